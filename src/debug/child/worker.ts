import inspector from 'node:inspector'
import net from 'node:net'
import { createInterface } from 'node:readline'
import { parentPort, workerData } from 'node:worker_threads'

/*
 * Beside the agent, in a thread of its own: hands messages between the debugger's socket and the main thread, which may stand
 * still at a breakpoint. Messages of the inspector go to the inspector of the main thread; no port is opened.
 */
const { socket } = workerData as { readonly socket: string }
const session = new inspector.Session()
session.connectToMainThread()
const pipe = net.connect(socket)
// The debugger is gone, however it ended; the main thread may be unable to hear it.
pipe.once('close', () => process.kill(process.pid, 'SIGKILL'))
pipe.on('error', () => pipe.destroy())
const say = (message: object): void => void pipe.write(`${JSON.stringify(message)}\n`)
session.on('inspectorNotification', ({ method, params }: { method: string; params?: unknown }) =>
  say({ event: method, params }),
)
parentPort?.on('message', say)
pipe.once('connect', () => parentPort?.postMessage('up'))

interface Command {
  readonly id?: number
  readonly method?: string
  readonly params?: object
}

const lines = createInterface({ input: pipe })
// Reports again what the pipe reports above.
lines.on('error', () => {})
lines.on('line', (line) => {
  const { id, method, params, ...own } = JSON.parse(line) as Command
  if (method === undefined) return parentPort?.postMessage(own)
  session.post(method, params, (error: Error | null, result?: object) => {
    say(error === null ? { id, result } : { id, error: { message: error.message } })
  })
})
