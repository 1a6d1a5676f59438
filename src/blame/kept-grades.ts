import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { RunReads, Surroundings } from '../jobs/run-reads.ts'
import { keepIfPossible, makeKeptFolder, writeKeptFile } from '../tape/kept-files.ts'
import { readKeptText } from '../tape/links.ts'
import { version } from '../version.ts'
import type { Oracle } from './oracle.ts'
import type { Grade } from './types.ts'

export interface KeptGradesOptions {
  /** Beside the forks of a tape. */
  readonly folder: string
  /** Digest of the code, that of the oracle too; where git knows none, no grade is kept for later sessions. */
  readonly code: string | undefined
  /** Leaves the grades of earlier sessions alone. */
  readonly isFresh: boolean
  readonly surroundings: Surroundings
}

/**
 * Grades that someone was paid for. A run that was graded is not paid for again: by the same oracle, of the same code, as long as
 * all that was read beside it is as it was.
 */
export class KeptGrades {
  readonly #options: KeptGradesOptions | undefined
  readonly #about: string
  readonly #known = new Map<string, Grade>()

  /** @param options - absent: grades are kept for this session alone */
  constructor({ about }: Pick<Oracle, 'about'>, options?: KeptGradesOptions) {
    this.#about = about
    this.#options = options
  }

  /** @param run - a text that is the same for the same run */
  get(run: string): Grade | undefined {
    const known = this.#known.get(run)
    const file = this.#options?.isFresh === true ? undefined : this.#fileOf(run)
    if (known !== undefined || file === undefined) return known
    const text = readKeptText(file)
    const { grade, reads } = text === undefined ? {} : readGrade(text)
    const isAsThen = reads !== undefined && this.#options?.surroundings.changedSince(reads, () => true).length === 0
    return isAsThen ? grade : undefined
  }

  keep(run: string, grade: Grade): void {
    if (grade !== 'ok' && grade !== 'bad') return
    this.#known.set(run, grade)
    const file = this.#fileOf(run)
    if (file === undefined || this.#options === undefined) return
    const { folder, surroundings } = this.#options
    const kept: KeptGrade = { grade, reads: surroundings.reads() }
    keepIfPossible(file, () => {
      makeKeptFolder(folder)
      writeKeptFile(file, JSON.stringify(kept))
    })
  }

  #fileOf(run: string): string | undefined {
    if (this.#options?.code === undefined) return undefined
    const { folder, code } = this.#options
    const identity = JSON.stringify([this.#about, code, version, run])
    return join(folder, `grade-${createHash('sha256').update(identity).digest('base64url').slice(0, 24)}.json`)
  }
}

interface KeptGrade {
  readonly grade: Grade
  readonly reads: RunReads
}

function readGrade(text: string): Partial<KeptGrade> {
  try {
    return JSON.parse(text) as Partial<KeptGrade>
  } catch {
    // A file someone cut or wrote into: the run can be graded again.
    return {}
  }
}
