// node off.child.ts FOLDER [ENABLED]: what a process with a recorder listens to, and what its run gives.
import { channel } from 'node:diagnostics_channel'
import { createRecorder, tool } from '../../src/record/index.ts'

const [dir = '', enabled] = process.argv.slice(2)
const { Date: date, setTimeout: timeout } = globalThis
const { random } = Math
const before = process.listenerCount('exit')
const recorder = createRecorder({ dir, ...(enabled === undefined ? {} : { enabled: enabled === 'true' }) })
const channels = ['undici:request:create', 'http.client.request.created', 'child_process', 'net.client.socket']
let signal: AbortSignal | undefined
const answer = recorder.run({ agent: 'a', id: 'r' }, (run) => {
  signal = run.signal
  return [run.id, run.flag('x'), recorder.flag('x'), tool('add', (n: number) => n + 1)(1)]
})
recorder.flush()
console.log(
  JSON.stringify({
    subscribed: channels.filter((name) => channel(name).hasSubscribers),
    patched: [date !== Date, random !== Math.random, timeout !== setTimeout, before !== process.listenerCount('exit')],
    answer,
    aborted: signal?.aborted,
    stats: recorder.stats,
  }),
)
