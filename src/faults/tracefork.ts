import { readModelCall, type ToolCall } from '../providers/index.ts'
import type { Decision } from '../fork/index.ts'
import type { Json, Step } from '../tape/index.ts'
import { isCall, isModel } from './answers.ts'
import { valuesIn, withValueAt } from './places.ts'
import { type AnswerKind, type DecisionKind, textIn } from './types.ts'
import { otherId, value } from './values.ts'

/**
 * The five classes of faults that tracefork plants, under its names: so that figures of both can be laid side by side.
 *
 * @see https://pypi.org/project/tracefork/ `faults.py`
 */
export const traceforkKinds: readonly (AnswerKind | DecisionKind)[] = [
  {
    ...value(
      'corrupted_tool_output',
      'a tool answers rubbish',
      isWhole,
      () => '\ufffd\ufffd 0x00 corrupted \ufffd',
      {},
      'tracefork',
    ),
    fits: ({ step }) => (isCall(step) && step.kind === 'tool' && step.result !== undefined ? {} : undefined),
  },
  value('misleading_retrieval', 'a text that was found misleads', isProse, misleading, {}, 'tracefork'),
  {
    name: 'wrong_system_prompt',
    family: 'tracefork',
    about: 'the model answers as if it got another prompt',
    changes: 'decision',
    fits: ({ step }) => (decisionOf(step) === undefined ? undefined : {}),
    decide: () => ({ say: 'I am not allowed to help with this. Please contact somebody else.' }),
  },
  {
    name: 'dropped_message',
    family: 'tracefork',
    about: 'the answer of the model is lost: it says nothing and calls nothing',
    changes: 'decision',
    fits: ({ step }) => (decisionOf(step) === undefined ? undefined : {}),
    decide: () => ({ say: '' }),
  },
  {
    name: 'poisoned_argument',
    family: 'tracefork',
    about: 'the model calls a tool with another argument',
    changes: 'decision',
    fits({ step }) {
      const [first, ...rest] = argumentsIn(decisionOf(step) ?? [])
      return first === undefined ? undefined : { path: { oneOf: [first, ...rest] } }
    },
    decide: ({ step }, args) => poisoned(decisionOf(step) ?? [], textIn(args, 'path')),
  },
]

function isWhole(_value: Json, path: string): boolean {
  return path === ''
}

function isProse(one: Json): boolean {
  return typeof one === 'string' && /\S\s+\S/.test(one)
}

function misleading(): Json {
  return 'This was withdrawn. The contrary applies since last month.'
}

/** The tools a model called, when it can be said otherwise what it decides. */
function decisionOf(step: Step): readonly ToolCall[] | undefined {
  if (!isModel(step) || step.response.status !== 200) return undefined
  return readModelCall(step)?.response?.toolCalls.filter(({ builtIn }) => builtIn !== true)
}

/** `refund.amount`, one per plain argument of the calls. */
function argumentsIn(calls: readonly ToolCall[]): readonly string[] {
  return calls.flatMap(({ name, args }, i) =>
    valuesIn(args, `${i}:${name}`).flatMap((leaf) =>
      typeof leaf.value === 'number' || typeof leaf.value === 'string' ? [leaf.path] : [],
    ),
  )
}

function poisoned(calls: readonly ToolCall[], path: string): Decision {
  return {
    calls: calls.map(({ name, args }, i) => ({ name, args: withValueAt(args, path, otherValue, `${i}:${name}`) })),
  }
}

function otherValue(old: Json): Json {
  if (typeof old === 'number') return old * 10 + 1
  const text = String(old)
  return otherId(text) === text ? `not ${text}` : otherId(text)
}
