import { resolve } from 'node:path'
import { here } from '../../errors/here.ts'
import { neutralLine } from '../../errors/index.ts'
import { holdsOfList, type ListedTape, outcomeOf, tapesOfCases } from '../../recordings/index.ts'
import { describeOutcome, duration } from '../../report/describe.ts'
import { widthOf } from '../../report/output.ts'
import { cutOffText } from '../../tape/cut-off.ts'

/** Cells are cut to the width of a terminal only: what goes into a pipe is searched there. */
function room(most: number): number {
  return process.stdout.isTTY ? most : Infinity
}

/** What a row says besides its tape. */
interface Beside {
  readonly casesOf: ReturnType<typeof caseFinder>
  readonly holdOf: ReturnType<typeof holdsOfList>
}

interface Column {
  readonly head: string
  readonly isNumber?: true
  /** Left out when it is empty for every tape. */
  readonly isOptional?: true
  cell(tape: ListedTape, given: Beside): string
}

/** Cells of a row, which are neutral, so that this stands in none. */
const between = '\0'

/**
 * The rows of a list, outside of the heap of JavaScript. There thousands of them would be moved about, and the space that
 * takes doubles while they come.
 */
export class ListedRows {
  /** The file of the first one, and of the first that threw. */
  first: string | undefined
  threw: string | undefined
  /** Of each column, how many of a terminal its widest cell takes; `undefined`: all its cells are empty. */
  readonly widths: (number | undefined)[] = columns.map(() => undefined)
  readonly #beside: Beside
  readonly #ends: number[] = []
  #bytes = Buffer.allocUnsafe(64 * 1024)

  constructor(dir: string) {
    this.#beside = { casesOf: caseFinder(dir), holdOf: holdsOfList() }
  }

  /** @returns how many there are */
  add(tape: ListedTape): number {
    const { file, outcome } = tape
    this.first ??= file
    if (outcome === 'threw') this.threw ??= file
    let text = ''
    for (let i = 0; i < columns.length; i++) {
      const cell = columns[i]!.cell(tape, this.#beside)
      if (cell !== '') this.widths[i] = Math.max(this.widths[i] ?? 0, widthOf(cell))
      text += i === 0 ? cell : `${between}${cell}`
    }
    const from = this.#ends.at(-1) ?? 0
    const room = from + text.length * 3
    if (room > this.#bytes.length) this.#bytes = Buffer.concat([this.#bytes.subarray(0, from)], room * 2)
    return this.#ends.push(from + this.#bytes.write(text, from))
  }

  /** One for each of {@link columns}. */
  *cells(): Generator<readonly string[]> {
    let from = 0
    for (const end of this.#ends) {
      yield this.#bytes.toString('utf8', from, end).split(between)
      from = end
    }
  }
}

export const columns: readonly Column[] = [
  { head: 'started', cell: ({ startedAt = 'unknown' }) => neutralLine(startedAt.replace(/\.\d+Z$/, 'Z')) },
  { head: 'agent', cell: ({ agent = '' }) => neutralLine(agent, room(30)) },
  { head: 'steps', isNumber: true, cell: ({ steps }) => `${steps}` },
  { head: 'took', isNumber: true, cell: tookCell },
  {
    head: 'cost',
    isNumber: true,
    isOptional: true,
    cell: ({ costUsd }) => (costUsd === undefined ? '' : cost(costUsd)),
  },
  { head: 'kept', isOptional: true, cell: (tape, { holdOf }) => keptCell(tape, holdOf) },
  { head: 'branch of', isOptional: true, cell: ({ branchOf = '' }) => neutralLine(branchOf, room(40)) },
  { head: 'outcome', cell: outcomeCell },
  {
    head: 'case',
    isOptional: true,
    cell: (tape, { casesOf }) =>
      casesOf(tape)
        .map((id) => neutralLine(id, 60))
        .join(', '),
  },
  { head: 'tape', cell: ({ file }) => neutralLine(here(file), 400) },
]

/** `…`: the run has no end; `unknown`: an import without times. */
function tookCell({ durationMs, state }: ListedTape): string {
  if (durationMs !== undefined) return duration(durationMs)
  return state === 'closed' ? 'unknown' : '…'
}

function outcomeCell({ file, state, open = [], ended }: ListedTape): string {
  const outcome = state === 'closed' ? (ended ?? outcomeOf(file)) : undefined
  return outcome === undefined
    ? (cutOffText(open, 1) ?? state)
    : neutralLine(describeOutcome(outcome, Infinity), room(48))
}

function keptCell({ file, kept, hold }: ListedTape, holdOf: ReturnType<typeof holdsOfList>): string {
  const reasons = kept.map(({ because, detail }) =>
    detail === undefined ? because : `${because} ${neutralLine(detail, room(20))}`,
  )
  return [...(holdOf(file, hold) === undefined ? [] : ['hold']), ...reasons].join(', ')
}

/** Dollars: cents where there are any, else as many digits as it takes to see something. */
function cost(usd: number): string {
  return `$${usd === 0 || usd >= 0.1 ? usd.toFixed(2) : usd.toPrecision(2)}`
}

/** Ids of the cases a tape has; cases are read only when a tape outside of the inbox is listed. */
export function caseFinder(dir: string): (tape: Pick<ListedTape, 'file' | 'place'>) => readonly string[] {
  let known: readonly ReadonlyMap<string, readonly string[]>[] | undefined
  return ({ file, place }) => {
    if (place === 'inbox') return []
    known ??= Object.values(tapesOfCases(dir)).map(idsByTape)
    const path = resolve(file)
    return known.map((ids) => ids.get(path)).find((ids) => ids !== undefined) ?? []
  }
}

function idsByTape(cases: ReturnType<typeof tapesOfCases>['present']): ReadonlyMap<string, readonly string[]> {
  const ids = new Map<string, string[]>()
  for (const { tape, id } of cases) {
    const known = ids.get(tape)
    if (known === undefined) ids.set(tape, [id])
    else known.push(id)
  }
  return ids
}
