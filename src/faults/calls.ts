import { type CallEvent, encodeValue, type Step } from '../tape/index.ts'
import { isCall, later } from './answers.ts'
import { timeouts } from './http.ts'
import { type AnswerKind, type ArgumentRanges, type FaultArgs, numberIn } from './types.ts'

const slowness: ArgumentRanges = { ms: { least: 1, most: 120_000 } }

/** What goes wrong with a wrapped tool or retriever. It passes: called again, it answers as recorded. */
export const callKinds: readonly AnswerKind[] = [
  call('tool-error', 'the call fails', (event) => failing(event, new Error('service unavailable')), {}, [
    'service unavailable',
  ]),
  call(
    'tool-reset',
    'the connection behind the call is reset',
    (event) => failing(event, Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })),
    {},
    ['ECONNRESET'],
  ),
  call(
    'tool-no-answer',
    'the call never answers',
    (event) => {
      const { result: _result, error: _error, yields: _yields, settled: _settled, ...asked } = event
      return asked
    },
    {},
    timeouts,
  ),
  {
    ...call(
      'tool-slow',
      'the call takes long',
      (event, args) => later(event, numberIn(args, 'ms', 1)),
      slowness,
      timeouts,
    ),
    answers: true,
  },
]

function call(
  name: string,
  about: string,
  rewrite: (event: CallEvent, args: FaultArgs) => Step,
  ranges: ArgumentRanges = {},
  tells: readonly string[] = [],
): AnswerKind {
  return {
    name,
    family: 'tools',
    about,
    tells,
    changes: 'answer',
    lasts: 'once',
    // A call that answered without a promise can be neither late nor without an answer.
    fits: ({ step }) => (isAsync(step) ? ranges : undefined),
    rewrite: ({ step }, args) => (isCall(step) ? rewrite(step, args) : step),
  }
}

function isAsync(step: Step): boolean {
  return isCall(step) && step.kind !== 'value' && step.sync !== true && step.settled !== undefined
}

function failing(event: CallEvent, error: Error): Step {
  const { result: _result, yields: _yields, ...asked } = event
  delete error.stack
  return { ...asked, error: encodeValue(error) }
}
