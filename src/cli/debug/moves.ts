import {
  callText,
  type DebugSession,
  type DebugStep,
  endText,
  hitsText,
  stepLine,
  stepLines,
  stripLines,
  timelineLines,
  wordsOf,
} from '../../debug/index.ts'
import type { Answer, DebugCommand, DebugContext } from './types.ts'
import { unknownToolLines } from './unknown-tools.ts'
import { numberIn, wordsIn, wrong } from './words.ts'

/** Steps that a view shows around the one we are at. */
const around = 20

export const moveCommands: Readonly<Record<string, DebugCommand>> = {
  goto: {
    usage: 'goto N',
    about: 'go to a step',
    run: (rest, context) => to(context, numberIn(rest, 'goto 7')),
  },
  forward: {
    usage: 'forward [K]',
    about: 'one step on, or K',
    run: (rest, context) => by(context, numberIn(rest, 'forward 3', 1)),
  },
  back: {
    usage: 'back [K]',
    about: 'one step back, or K; in code: one move back',
    run: (rest, context) => by(context, -numberIn(rest, 'back 3', 1)),
  },
  first: { usage: 'first', about: 'the first step', run: (_, context) => to(context, 1) },
  last: { usage: 'last', about: 'the last step', run: (_, context) => to(context, context.session.steps.length) },
  break: {
    usage: 'break [RULE]',
    about: 'stop where a rule holds: refund(amount > 100); without a rule, list the breakpoints',
    run: (rest, { session }) => (rest === '' ? listBreakpoints(session) : addBreakpoint(session, rest)),
  },
  delete: {
    usage: 'delete N',
    about: 'take a breakpoint away',
    run(rest, { session }) {
      const id = numberIn(rest, 'delete 1')
      if (!session.delete(id)) throw wrong(`there is no breakpoint ${id}`, ['to see them: break'])
      return { lines: [`breakpoint ${id} is deleted`], data: { deleted: id } }
    },
  },
  continue: { usage: 'continue', about: 'on to the next breakpoint', run: (_, context) => run(context, 1) },
  'reverse-continue': {
    usage: 'reverse-continue',
    about: 'back to the breakpoint before (rc)',
    run: (_, context) => run(context, -1),
  },
  rule: {
    usage: 'rule EXPR',
    about: 'truth of a rule at every step: ..x..x',
    run(rest, { session }) {
      if (rest === '') throw wrong('a rule is missing', ['like this: rule refund(amount > 100)'])
      const hits = session.find(rest)
      const count = session.steps.length
      return {
        lines: [hitsText(hits, count), ...stripLines(count, hits), ...unknownToolLines(rest, session)],
        data: { rule: rest, steps: count, hits },
      }
    },
  },
  steps: {
    usage: 'steps [FROM TO]',
    about: 'list steps',
    run(rest, { session }) {
      const [from, to] = range(rest, session, session.steps.length <= 200 ? Infinity : around)
      return { lines: stepLines(session, from, to), data: session.steps.slice(from - 1, to).map(stepData) }
    },
  },
  timeline: {
    usage: 'timeline [FROM TO]',
    about: 'bars: what ran side by side',
    run(rest, { session }) {
      const [from, to] = range(rest, session, around)
      const rows = session.steps.slice(from - 1, to)
      return {
        lines: rows.length === 0 ? ['this tape has no steps'] : timelineLines(session, from, to),
        data: rows.map((step) => ({
          step: step.number,
          kind: wordsOf(step).kind,
          fromMs: step.event.at,
          toMs: step.answered?.[1] ?? null,
          during: step.during,
        })),
      }
    },
  },
}

/** A step in a list, for programs. */
export function stepData(step: DebugStep) {
  const { kind, name, error } = wordsOf(step)
  const { number, during, inside } = step
  return {
    step: number,
    kind,
    name,
    call: callText(step),
    during,
    ...(inside === undefined ? {} : { inside }),
    ...(error === undefined ? {} : { error }),
  }
}

function to({ session }: DebugContext, number: number): Answer {
  const step = session.goto(number)
  return { lines: [stepLine(session, step)], data: { at: number, ...stepData(step) }, isMove: true }
}

/** Past an end the move stops there and says so. */
function by(context: DebugContext, steps: number): Answer {
  const { session } = context
  const target = session.at + steps
  const within = Math.max(1, Math.min(target, session.steps.length))
  const answer = to(context, within)
  if (target === within) return answer
  const note = target < 1 ? 'the first step' : 'the last step'
  return { ...answer, lines: [stepLine(session, session.step(), note)] }
}

function run(context: DebugContext, direction: 1 | -1): Answer {
  const { session } = context
  if (session.breakpoints.length === 0)
    throw wrong('there is no breakpoint', ['to set one: break refund(amount > 100)'])
  const stop = session.run(direction)
  if (stop === undefined) {
    const end = direction === 1 ? endText(session.tape) : 'the beginning: no breakpoint before this step'
    return { lines: [end], data: { at: session.at, stopped: false }, isNowhere: true, isMove: true }
  }
  const { id, rule } = stop.breakpoint
  const step = session.step()
  return {
    lines: [stepLine(session, step, `breakpoint ${id}`)],
    data: { at: session.at, stopped: true, breakpoint: { id, rule }, ...stepData(step) },
    isMove: true,
  }
}

function addBreakpoint(session: DebugSession, rule: string): Answer {
  const { id, hits } = session.break(rule)
  return {
    lines: [`breakpoint ${id}: ${hitsText(hits, session.steps.length)}`, ...unknownToolLines(rule, session)],
    data: { breakpoint: id, rule, hits },
  }
}

function listBreakpoints({ breakpoints, steps }: DebugSession): Answer {
  const lines = breakpoints.map(({ id, rule, hits }) => `breakpoint ${id}: ${hitsText(hits, steps.length)}   ${rule}`)
  return { lines: lines.length === 0 ? ['no breakpoint'] : lines, data: { breakpoints } }
}

function range(rest: string, session: DebugSession, near: number): readonly [from: number, to: number] {
  const words = wordsIn(rest)
  const count = session.steps.length
  const first = words[0] === undefined ? Math.max(1, session.at - near) : numberIn(words[0], 'steps 10 20')
  const last =
    words[1] === undefined ? (words[0] === undefined ? session.at + near : first) : numberIn(words[1], 'steps 10 20')
  if (words[0] !== undefined) session.step(first)
  if (words[1] !== undefined && last < first)
    throw wrong(`from ${first} to ${last} there is nothing`, [`steps ${last} ${first}`])
  return [Math.max(1, Number.isFinite(first) ? first : 1), Math.min(last, count)]
}
