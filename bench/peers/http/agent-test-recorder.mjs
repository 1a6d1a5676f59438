// agent-test-recorder with its adapter for fetch: the one that needs no hand on the agent's clients.
import { join } from 'node:path'
import { FetchAdapter, Recorder } from 'agent-test-recorder'

/** Opens a session; see bench/peers/README.md. */
export async function open(mode, { dir, name, upstream }) {
  const recorder = new Recorder({
    cassettePath: join(dir, `${name}.json`),
    mode: mode === 'record' ? 'record' : 'playback',
  })
  const adapter = new FetchAdapter(recorder, { urlPattern: /^http:\/\// })
  await recorder.start()
  adapter.instrument()
  return {
    base: upstream,
    async close() {
      adapter.restore()
      await recorder.stop()
      return []
    },
  }
}
