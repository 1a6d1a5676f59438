import { readModelCall } from '../providers/index.ts'
import { stepsOf } from '../tape/index.ts'
import type { ForkChange } from '../fork/index.ts'
import { answerText, isModel, withAnswer } from './answers.ts'
import { type ArgumentRanges, type FaultArgs, numberIn, type RunKind, textIn } from './types.ts'

const minute = 60_000

/** Every unit of the clock is another one: code that looks at its seconds alone sees them move as well. */
const shift: ArgumentRanges = {
  minutes: { least: 1, most: 1440 },
  ms: { least: 0, most: minute - 1, isOptional: true },
}

function shiftOf(args: FaultArgs): number {
  return numberIn(args, 'minutes', 1) * minute + numberIn(args, 'ms')
}

/** Faults that belong to no single step: `step` of such a fault is 0. */
export const runKinds: readonly RunKind[] = [
  {
    name: 'clock-ahead',
    family: 'clock',
    about: 'the clock is ahead',
    changes: 'run',
    fits: () => shift,
    plan: (_tape, args) => ({ clockOffsetMs: shiftOf(args) }),
  },
  {
    name: 'clock-behind',
    family: 'clock',
    about: 'the clock is behind',
    changes: 'run',
    fits: () => shift,
    plan: (_tape, args) => ({ clockOffsetMs: -shiftOf(args) }),
  },
  {
    name: 'version-swap',
    family: 'version',
    about: 'every answer comes from another version of the model',
    changes: 'run',
    fits: (tape) => (stepsOf(tape).some(isModel) ? {} : undefined),
    plan(tape) {
      const changes = stepsOf(tape).flatMap((step, i): ForkChange[] => {
        const model = isModel(step) ? readModelCall(step)?.response?.model : undefined
        if (model === undefined) return []
        const named = JSON.stringify(model)
        const other = JSON.stringify(`${model}-next`)
        return [
          {
            step: i + 1,
            rewrite: (one) =>
              one.kind === 'exchange' ? withAnswer(one, { text: answerText(one).replaceAll(named, other) }) : one,
            always: true,
          },
        ]
      })
      return { changes }
    },
  },
  {
    name: 'regression',
    family: 'regression',
    about: 'other code of the agent runs',
    changes: 'run',
    fits(_tape, variants) {
      const [first, ...rest] = variants
      return first === undefined ? undefined : { variant: { oneOf: [first, ...rest] } }
    },
    plan: (_tape, args) => ({ variant: textIn(args, 'variant') }),
  },
]
