import { callText, type DebugSession, wordsOf } from '../../debug/index.ts'
import { neutralLine } from '../../errors/index.ts'

export type DapArguments = Readonly<Record<string, unknown>>

/** A text that an editor gave; empty where it gave something else: an object may refuse to become text. */
export function textOf(given: unknown): string {
  return typeof given === 'string' ? given : ''
}

/** As {@link textOf}. */
export function numberOf(given: unknown, other: number): number {
  return typeof given === 'number' ? given : other
}

/** Frames that are sent to an editor at most. */
const mostFrames = 50

/** The step we are at and the model steps before it, the newest first. */
export function framesOf({ steps, at }: DebugSession, args: DapArguments): object {
  const models = steps.slice(0, Math.max(0, at - 1)).filter((step) => wordsOf(step).kind === 'model')
  const shown = [...steps.slice(at - 1, at), ...models.reverse()].slice(0, mostFrames)
  const [from, count] = [numberOf(args['startFrame'], 0), numberOf(args['levels'], 0)]
  return {
    totalFrames: shown.length,
    stackFrames: shown.slice(from, count > 0 ? from + count : undefined).map((step) => ({
      id: step.number,
      name: neutralLine(`${step.number} ${wordsOf(step).kind} ${callText(step)}`, 120),
      line: 1,
      column: 1,
      source: { name: `step ${step.number}`, sourceReference: step.number, origin: 'tape' },
    })),
  }
}

/** What an editor shows of a step, and may unfold until the next stop. */
export class DapViews {
  #values: unknown[] = []

  reset(): void {
    this.#values = []
  }

  /** The scopes of a step. */
  scopes(session: DebugSession, step: number): readonly object[] {
    const { context, clock, state, usage, args, result, error, decided, said, reads } = session.inspect(step)
    const decision = { args, result, error, decided, said }
    const scopes: readonly (readonly [string, unknown, boolean])[] = [
      ['Decision', decision, false],
      ['Context window', context?.parts ?? [], true],
      ['Clock', { ...clock, reads }, false],
      ['State', Object.fromEntries(state.map(({ name, data }) => [name, data])), false],
      ['Usage', usage ?? {}, false],
    ]
    return scopes.map(([name, value, expensive]) => ({ name, expensive, variablesReference: this.keep(value) }))
  }

  /** What is in a value that an editor unfolds. */
  variables(reference: number): readonly object[] {
    const value = this.#values[reference - 1]
    if (typeof value !== 'object' || value === null) return []
    return Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .map(([key, member]: [string, unknown]) => ({
        name: neutralLine(
          isPart(member) ? `${key} ${member.role}${member.tokens === undefined ? '' : ` ≈${member.tokens}`}` : key,
          80,
        ),
        value: isPart(member) ? neutralLine(member.text, 400) : neutralLine(JSON.stringify(member), 400),
        variablesReference: typeof member === 'object' && member !== null ? this.keep(member) : 0,
      }))
  }

  /** A number an editor may ask for this value by, until the next stop. */
  keep(value: unknown): number {
    return this.#values.push(value)
  }
}

interface Part {
  readonly role: string
  readonly text: string
  readonly tokens?: number
}

function isPart(value: unknown): value is Part {
  return typeof value === 'object' && value !== null && 'role' in value && 'text' in value
}
