// undici's SnapshotAgent under undici's own fetch. `excludeHeaders` is how its documentation keeps keys off the disk.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fetch, getGlobalDispatcher, setGlobalDispatcher, SnapshotAgent } from 'undici'

/** Opens a session; see bench/peers/README.md. */
export async function open(mode, options) {
  const session = await openAgent(mode, options)
  const before = globalThis.fetch
  globalThis.fetch = fetch
  return {
    ...session,
    async close() {
      globalThis.fetch = before
      return session.close()
    },
  }
}

/** The agent alone, as the global dispatcher. */
export async function openAgent(mode, { dir, name, upstream }) {
  const snapshotPath = join(dir, `${name}.json`)
  // It says nothing about a file that is not there.
  if (mode === 'replay') readFileSync(snapshotPath)
  const agent = new SnapshotAgent({
    mode: mode === 'record' ? 'record' : 'playback',
    snapshotPath,
    excludeHeaders: ['authorization', 'x-api-key'],
  })
  const before = getGlobalDispatcher()
  setGlobalDispatcher(agent)
  return {
    base: upstream,
    async close() {
      if (mode === 'record') await agent.saveSnapshots()
      setGlobalDispatcher(before)
      await agent.close()
      return []
    },
  }
}
