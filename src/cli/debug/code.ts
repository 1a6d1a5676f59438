import {
  codeLines,
  type CodeMove,
  type CodeStop,
  localLines,
  noStopLines,
  type NoStop,
  replayModes,
  sourceLines,
} from '../../debug/index.ts'
import { neutral } from '../../errors/index.ts'
import type { Answer, DebugCommand, DebugContext } from './types.ts'
import { wrong } from './words.ts'

/** What reads the clock or chance: a replay has recorded values for these. */
const reads = /\bDate\b|\bperformance\b|\bMath\.random\b|\brandomUUID\b|\brandomBytes\b|\bgetRandomValues\b|\bhrtime\b/

/** Why an expression is not evaluated. */
export const refusals = {
  read: 'that would read a recorded clock',
  change: 'that could change something in the agent',
} as const

export const codeCommands: Readonly<Record<string, DebugCommand>> = {
  code: {
    usage: 'code [full|skip|auto]',
    about: 'stop the real agent where the answer of this step arrives; skip: go there from a kept replay',
    async run(rest, { session, code }) {
      const mode = replayModes.find((one) => one === (rest === '' ? 'auto' : rest))
      if (mode === undefined) throw wrong(`code takes full, skip or auto`, ['code'])
      session.step()
      return stopped(await code.enter(session.at, [], mode), session)
    },
  },
  next: {
    usage: 'next',
    about: 'in code: run one statement',
    inCode: true,
    run: (_, context) => move('next', context),
  },
  step: { usage: 'step', about: 'in code: step into a call', inCode: true, run: (_, context) => move('step', context) },
  finish: {
    usage: 'finish',
    about: 'in code: run to the end of this function',
    inCode: true,
    run: (_, context) => move('finish', context),
  },
  locals: {
    usage: 'locals',
    about: 'in code: the variables of the function',
    inCode: true,
    async run(_, { code }) {
      const stop = await code.here()
      return {
        lines: localLines(stop, true),
        data: Object.fromEntries(stop.locals.map(({ name, text }) => [name, text])),
      }
    },
  },
  print: {
    usage: 'print EXPR',
    about: 'in code: a value; cannot disturb the replay',
    inCode: true,
    run: (rest, context) => evaluate(rest, false, context),
  },
  call: {
    usage: 'call EXPR',
    about: 'in code: a value, with side effects; ends this replay',
    inCode: true,
    run: (rest, context) => evaluate(rest, true, context),
  },
  source: {
    usage: 'source',
    about: 'in code: the lines around',
    inCode: true,
    async run(_, { code }) {
      const stop = await code.here()
      const lines = await code.source(8)
      return { lines: sourceLines(lines, stop.place.line), data: { place: stop.place, source: lines } }
    },
  },
}

/** `back` while the agent stands in its code. */
export async function backInCode(context: DebugContext): Promise<Answer> {
  return stopped(await context.code.back(), context.session)
}

async function move(kind: CodeMove, { code, session }: DebugContext): Promise<Answer> {
  return { ...stopped(await code.move(kind), session), isMove: true }
}

function stopped(stop: CodeStop | NoStop, session: DebugContext['session']): Answer {
  if (session.at !== stop.step) session.goto(stop.step)
  if ('why' in stop)
    return {
      lines: noStopLines(stop),
      data: { step: stop.step, stopped: false, why: stop.why, problems: stop.problems },
    }
  return { lines: codeLines(stop), data: { stopped: true, ...stop } }
}

async function evaluate(expression: string, mayChange: boolean, { code }: DebugContext): Promise<Answer> {
  if (expression === '') throw wrong('an expression is missing', ['like this: print messages.at(-1)'])
  const answer = await code.evaluate(expression, mayChange)
  if ('value' in answer)
    return { lines: neutral(answer.text).split('\n'), data: { expression, value: answer.value, text: answer.text } }
  if (!answer.isSideEffect) throw wrong(answer.error, ['to see what is there: locals'])
  const doing = `\`call ${expression}\` does it all the same`
  throw wrong(
    reads.test(expression) ? `${refusals.read}: \`clock\` prints it, ${doing}` : `${refusals.change}: ${doing}`,
    [],
  )
}
