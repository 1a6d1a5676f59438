import { isRead } from '../playback/independence.ts'
import type { StepState } from '../match/step.ts'
import type { PushEvent, Tape } from '../tape/index.ts'

/** What was said on a WebSocket, or as a line to a child, and the first frame that came back: nothing else happened before the next action. */
export interface FrameWait {
  readonly said: StepState
  readonly heard: number
}

/**
 * A frame that comes back on a WebSocket, or a line that a child writes, is the answer to nothing, as far as a tape says: it may be news that the agent merely
 * listens to. But where nothing else came between a frame that the agent said and its next action, neither another answer nor
 * a timer, that action waited for what came back.
 */
export function frameWaits(tape: Tape, steps: readonly StepState[]): ReadonlyMap<StepState, FrameWait> {
  const found = new Map<StepState, FrameWait>()
  const timers = tape.close?.timers
  const pushes = new Map(tape.events.flatMap((event) => (isAnswer(event) ? [[event.n, event] as const] : [])))
  if (pushes.size === 0 || timers === undefined) return found
  const notes = new Set(tape.events.flatMap((event) => (isNote(event) ? [event.n] : [])))
  const byN = new Map(steps.map((step) => [step.event.n, step]))
  const fired = timers.flatMap(([, , , of]) => of.flatMap(([, moments]) => moments.map(([n]) => n)))
  for (const step of steps) {
    if (!isAction(step)) continue
    let heard: PushEvent | undefined
    for (let n = step.event.n - 1; n >= 0; n--) {
      const push = pushes.get(n)
      const isOfOne = push !== undefined && (heard === undefined || heard.url === push.url)
      if (isOfOne) heard = push
      else if (!notes.has(n)) {
        const said = heard && saidBy(heard, [byN.get(n), byN.get(n - 1)])
        const isWoken = fired.some((at) => said !== undefined && at > said.event.n && at <= step.event.n)
        if (said && heard && !isWoken) found.set(step, { said, heard: heard.n })
        break
      }
    }
  }
  return found
}

/** The step that said something to the peer of `heard`; a frame that is sent takes a second number, as its own end. */
function saidBy({ url }: PushEvent, [at, before]: readonly (StepState | undefined)[]): StepState | undefined {
  const said = at ?? before
  const { event } = said ?? {}
  return event?.kind === 'exchange' && event.url === url && event.method.startsWith('SEND') ? said : undefined
}

/** What is said on sockets has no place behind what comes: clients hold frames back while they deflate them. */
function isAction({ event }: StepState): boolean {
  if (event.kind === 'value' || isRead(event)) return false
  return event.kind !== 'exchange' || event.via !== 'websocket'
}

function isAnswer(event: Tape['events'][number]): event is PushEvent {
  return (
    event.kind === 'push' && /^(wss?|stdio):/.test(event.url) && (event.frame === undefined || event.frame === 'binary')
  )
}

/** An agent learns nothing from it: a client answers pings by itself. */
function isNote(event: Tape['events'][number]): boolean {
  if (event.kind === 'push') return event.frame === 'ping' || event.frame === 'pong'
  return event.kind === 'message' || event.kind === 'mark' || event.kind === 'state'
}
