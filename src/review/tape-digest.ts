import { neutralLine } from '../errors/index.ts'
import { counted } from '../errors/words.ts'
import { modelIds, readModelCall } from '../providers/index.ts'
import { type Outcome, stepsOf, type Tape } from '../tape/index.ts'
import { placedCalls, positionsOf } from '../trace/index.ts'

/** What a run was, in five lines for a reviewer; each is neutral text without a line break. */
export interface TapeDigest {
  /** Agent and input. */
  readonly asked: string
  readonly models: string
  readonly did: string
  readonly said: string
  readonly ended: string
}

const room = 200

/** What a tape does, in five lines. */
export function tapeDigest(tape: Tape): TapeDigest {
  const { header, events, close } = tape
  const steps = stepsOf(tape)
  const asked = steps.filter((step) => step.kind === 'exchange' && readModelCall(step) !== undefined).length
  const calls = placedCalls(events).toSorted((one, other) => one.issued - other.issued)
  const positions = positionsOf(tape)
  const last = positions.findLast(({ kind, phase, text = '' }) => kind === 'model' && phase === 'ok' && text !== '')
  const { tokens } = positions.at(-1) ?? { tokens: { known: 0, isWhole: true } }
  const used =
    tokens.known === 0 && !tokens.isWhole
      ? 'tokens unknown'
      : `${tokens.isWhole ? '' : 'at least '}${counted(tokens.known, 'token')}`
  const models = [...new Set(steps.flatMap((step) => (step.kind === 'exchange' ? modelIds([step]) : [])))]
  return {
    asked: neutralLine(`${header.agent}(${header.input === undefined ? '' : JSON.stringify(header.input)})`, room),
    models: neutralLine(asked === 0 ? 'no model' : `${models.join(', ')}: ${counted(asked, 'call')}, ${used}`, room),
    did: neutralLine(
      calls.length === 0 ? 'no tool call' : calls.map(({ call }) => `${call.name}(${argsText(call.args)})`).join(' → '),
      room,
    ),
    said: neutralLine(last?.text ?? 'nothing', room),
    ended: neutralLine(close === undefined ? 'truncated' : endText(close.outcome), room),
  }
}

function argsText(args: unknown): string {
  const json = JSON.stringify(args)
  return json === '{}' ? '' : json.startsWith('{') ? json.slice(1, -1) : json
}

function endText(outcome: Outcome): string {
  switch (outcome.status) {
    case 'returned':
      return outcome.value === undefined ? 'returned' : `returned ${JSON.stringify(outcome.value)}`
    case 'threw':
      return `threw ${JSON.stringify(outcome.error)}`
    case 'exited':
      return `exited ${outcome.code ?? outcome.signal ?? ''}`
    case 'unknown':
      return 'unknown'
  }
}
