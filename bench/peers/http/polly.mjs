// Polly.js with both adapters Node has. `recordFailedRequests`, since a 429 is an answer too; `recordIfMissing: false`,
// so that a replay asks nobody.
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)
const { Polly } = require('@pollyjs/core')
const adapters = [require('@pollyjs/adapter-fetch'), require('@pollyjs/adapter-node-http')]
const persister = require('@pollyjs/persister-fs')
for (const plugin of [...adapters, persister]) Polly.register(plugin.default ?? plugin)

/** Opens a session; see bench/peers/README.md. */
export async function open(mode, { dir, name, upstream }) {
  const polly = new Polly(name, {
    mode,
    adapters: ['fetch', 'node-http'],
    persister: 'fs',
    persisterOptions: { fs: { recordingsDir: dir } },
    recordIfMissing: false,
    recordFailedRequests: true,
    flushRequestsOnStop: true,
    logLevel: 'silent',
  })
  return {
    base: upstream,
    async close() {
      await polly.stop()
      return []
    },
  }
}
