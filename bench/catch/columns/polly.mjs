// Polly.js: method, address, body and order have to match, headers need not (they carry ids and versions); what was
// not recorded is an error. Statuses above 399 are recorded: they are answers, too.
import adapter from '@pollyjs/adapter-fetch'
import { Polly } from '@pollyjs/core'
import persister from '@pollyjs/persister-fs'

const plugin = (module) => module.default ?? module
Polly.register(plugin(adapter))
Polly.register(plugin(persister))

export async function open(mode, { dir, name }) {
  const polly = new Polly(name, {
    mode,
    adapters: ['fetch'],
    persister: 'fs',
    persisterOptions: { fs: { recordingsDir: dir } },
    recordIfMissing: false,
    recordFailedRequests: true,
    flushRequestsOnStop: true,
    matchRequestsBy: { method: true, headers: false, body: true, order: true },
    logLevel: 'silent',
  })
  return { close: () => polly.stop() }
}
