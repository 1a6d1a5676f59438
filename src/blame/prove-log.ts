import { writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { RunReads, Surroundings } from '../jobs/run-reads.ts'
import type { Use } from '../live/index.ts'
import type { AskGrade } from './prove-judge.ts'
import { keepIfPossible, makeKeptFolder } from '../tape/kept-files.ts'
import { appendKeptText, readKeptText } from '../tape/links.ts'

/** Who is asked: the changed question, or the recorded one as the control. */
export type AskArm = 'changed' | 'recorded'

/** One ask that ended. */
export interface AskEntry {
  readonly arm: AskArm
  readonly grade: Exclude<AskGrade, 'lost'>
  readonly because?: string
  /** ISO 8601. */
  readonly at: string
  readonly used: Use
  /** The part of it that the function of the case used, where there is one. */
  readonly grading?: Use
  /** The branch of the first ask of the changed question that is not good. */
  readonly branch?: string
}

type Line =
  | { readonly began: string; readonly reserved: Use }
  | ({ readonly ended: string; readonly reads?: RunReads } & AskEntry)
  /** It said nothing, and cost this. */
  | { readonly lost: string; readonly used: Use }
  | { readonly decided: string; readonly at: string }

/**
 * What a proof has found out so far, in a file that gets a line before each ask and one after it. A proof that was killed
 * goes on from there, and counts what it had set apart for asks that never ended as spent.
 */
export class ProveLog {
  readonly #file: string | undefined
  readonly #surroundings: Surroundings
  /** Asks that count; those of the recorded question also from proofs before. */
  readonly entries: readonly AskEntry[]
  /** What this proof has used before. */
  readonly used: Use

  /**
   * @param file - absent: nothing is kept, for it is unknown whether the code is the same
   * @param since - milliseconds since the epoch: older asks do not count
   * @param surroundings - asks do not count where something they read is not as it was, or is not known
   */
  constructor(file: string | undefined, since: number, surroundings: Surroundings) {
    this.#file = file
    this.#surroundings = surroundings
    const areReadsSame = (reads: RunReads | undefined): boolean =>
      reads !== undefined && surroundings.changedSince(reads).length === 0
    const lines = file === undefined ? [] : readLines(file)
    const decided = lines.findLastIndex((line) => 'decided' in line)
    const current = lines.slice(decided + 1)
    const ended = lines.flatMap((line, at) =>
      'ended' in line &&
      (at > decided || line.arm === 'recorded') &&
      Date.parse(line.at) >= since &&
      areReadsSame(line.reads)
        ? [line]
        : [],
    )
    this.entries = ended
    this.used = usedIn(current)
  }

  began(id: string, reserved: Use): void {
    this.#write({ began: id, reserved })
  }

  ended(id: string, entry: AskEntry): void {
    this.#write({ ended: id, ...entry, reads: this.#surroundings.reads() })
  }

  lost(id: string, used: Use): void {
    this.#write({ lost: id, used })
  }

  decided(decision: string, at: string): void {
    this.#write({ decided: decision, at })
  }

  #write(line: Line): void {
    if (this.#file === undefined) return
    const file = this.#file
    keepIfPossible(file, () => {
      // It holds what its tape holds, and that is not for git.
      makeKeptFolder(dirname(file))
      appendKeptText(file, `${JSON.stringify(line)}\n`)
    })
  }
}

/** The lines that are whole: a process that was killed may have left half of the last one. */
function readLines(file: string): readonly Line[] {
  const text = readKeptText(file)
  if (text === undefined) return []
  const whole = text.slice(0, text.lastIndexOf('\n') + 1)
  // Half a line would run into the next one that is written.
  if (whole.length < text.length) writeFileSync(file, whole, { mode: 0o600 })
  return whole
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line)
}

function usedIn(lines: readonly Line[]): Use {
  const open = new Map<string, Use>()
  for (const line of lines) {
    if ('began' in line) open.set(line.began, line.reserved)
    else if ('ended' in line) open.set(line.ended, line.used)
    else if ('lost' in line) open.set(line.lost, line.used)
  }
  return [...open.values()].reduce<Use>(
    (sum, use) => ({
      calls: sum.calls + use.calls,
      tokens: sum.tokens + use.tokens,
      costUsd: (sum.costUsd ?? 0) + (use.costUsd ?? 0),
    }),
    { calls: 0, tokens: 0, costUsd: 0 },
  )
}
