import { wayTo } from '../../src/debug/way.ts'
import type { DebugStep } from '../../src/debug/steps.ts'
import type { CodeStop } from '../../src/debug/index.ts'

/** Something the agent's code did in a replay, in order. */
export type Truth =
  /** Answers are handed over: their places in the order of the tape. */
  | { readonly kind: 'answers'; readonly places: readonly number[] }
  /** A statement begins, or an `await` of one goes on. */
  | {
      readonly kind: 'statement' | 'await'
      readonly line: number
      readonly end: number
      readonly in: string
      /** Variables that have a value then, as JSON. */
      readonly locals: readonly (readonly [name: string, json: string | undefined])[]
    }

type Told = Exclude<Truth, { readonly kind: 'answers' }>

/** Reads a variable of the frame that stands still, as JSON; `undefined` when it may not be read. */
export type ReadLocal = (name: string) => Promise<string | undefined>

/** What is wrong with a stop; `undefined` when it is where the agent's code went on, with its variables. */
export async function wrongWith(
  stop: CodeStop,
  steps: readonly DebugStep[],
  truth: readonly Truth[],
  read: ReadLocal,
): Promise<string | undefined> {
  const number = stop.inside ?? stop.step
  const way = wayTo(steps, number)
  if (way === undefined) return 'no answer'
  const from = truth.findIndex((one) => one.kind === 'answers' && one.places.some((n) => n >= way.burst))
  const rest = truth.slice(from + 1)
  const end = rest.findIndex(({ kind }) => kind === 'answers')
  const told = rest.slice(0, end === -1 ? undefined : end) as readonly Told[]
  const isLate = told.length === 0
  if (isLate !== (stop.since !== undefined)) return `late: ${!isLate} is not ${isLate}`
  const ran = isLate ? (rest.filter(({ kind }) => kind !== 'answers') as readonly Told[]) : told
  const [first] = ran
  if (first === undefined) return 'no statement ran'
  // A callback may run before the code that waited for the answer goes on: that is what the debugger stops at.
  const waited = ran.find(({ kind }) => kind === 'await') ?? first
  const found = await Promise.all(
    [waited, first].map((begun) => compared(begun, isLate ? 0 : way.skip, ran, stop, read)),
  )
  return found.includes(undefined) ? undefined : found[0]
}

async function compared(
  sought: Told,
  skip: number,
  ran: readonly Told[],
  stop: CodeStop,
  read: ReadLocal,
): Promise<string | undefined> {
  // Answers of one burst that the same place waits for: that of this step comes behind those of its mates.
  const same = ran.filter((one) => one.kind === sought.kind && one.line === sought.line && one.in === sought.in)
  const begun = same[skip] ?? sought
  const after = ran.slice(ran.indexOf(begun))
  const next = after.find((one) => one.kind === 'statement' && one.in === begun.in)
  const { line } = stop.place
  const isSame = begun.kind === 'await' && line >= begun.line && line <= begun.end
  const right = next?.line === line ? next : isSame ? begun : undefined
  if (right === undefined) return `line ${line} is not ${begun.line} or ${next?.line}`
  // V8 makes a name up for a function that has none.
  if (right.in !== '' && right.in !== stop.in) return `function ${stop.in} is not ${right.in}`
  for (const [name, json] of right.locals) {
    const seen = await read(name)
    if (seen !== undefined && json !== undefined && seen !== json)
      return `${name} is ${seen.slice(0, 200)}, not ${json.slice(0, 200)}`
  }
  return undefined
}
