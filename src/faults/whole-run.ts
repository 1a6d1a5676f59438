import { readModelCall } from '../providers/index.ts'
import { stepsOf } from '../tape/index.ts'
import type { ForkChange } from '../fork/index.ts'
import { answerText, isModel, withAnswer } from './answers.ts'
import { numberIn, type RunKind, textIn } from './types.ts'

const minute = 60_000

/** Faults that belong to no single step: `step` of such a fault is 0. */
export const runKinds: readonly RunKind[] = [
  {
    name: 'clock-ahead',
    family: 'clock',
    about: 'the clock is ahead',
    changes: 'run',
    fits: () => ({ minutes: { least: 1, most: 1440 } }),
    plan: (_tape, args) => ({ clockOffsetMs: numberIn(args, 'minutes', 1) * minute }),
  },
  {
    name: 'clock-behind',
    family: 'clock',
    about: 'the clock is behind',
    changes: 'run',
    fits: () => ({ minutes: { least: 1, most: 1440 } }),
    plan: (_tape, args) => ({ clockOffsetMs: -numberIn(args, 'minutes', 1) * minute }),
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
