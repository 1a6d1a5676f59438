import { createHash } from 'node:crypto'
import { dirname, join } from 'node:path'
import { type ErrorFacts, HarvestError, neutralLine } from '../errors/index.ts'
import { firstNames } from '../errors/words.ts'
import type { IsFree, RunReads, Surroundings } from '../jobs/run-reads.ts'
import { writeKeptFile } from '../tape/kept-files.ts'
import { readKeptText } from '../tape/links.ts'

/**
 * Keeps beside a ledger what a fork read.
 *
 * @returns the name it is kept under: the same for the same
 */
export function keepReads(file: string, reads: RunReads): string {
  const text = JSON.stringify(reads)
  const name = createHash('sha256').update(text).digest('base64url').slice(0, 24)
  const kept = readsFileOf(file, name)
  if (readKeptText(kept) === undefined) writeKeptFile(kept, text)
  return name
}

function readsFileOf(file: string, name: string): string {
  return join(dirname(file), `reads-${name}.json`)
}

/** Forks that read something besides their code that is not as it was, and what that is; `undefined`: unknown. */
export function withOtherReads<Line extends { readonly reads?: string }>(
  file: string,
  entries: readonly Line[],
  {
    surroundings,
    isFree,
    unloaded,
  }: {
    readonly surroundings: Surroundings | undefined
    readonly isFree: IsFree
    readonly unloaded?: ReadonlySet<string>
  },
): ReadonlyMap<Line, readonly string[] | undefined> {
  const names = [...new Set(entries.map(({ reads }) => reads))]
  const changes = new Map(
    names.map((name) => {
      const reads = name === undefined ? undefined : keptReads(file, name)
      return [name, reads && surroundings?.changedSince(reads, isFree, unloaded)]
    }),
  )
  const others = entries.filter(({ reads }) => changes.get(reads)?.length !== 0)
  return new Map(others.map((line) => [line, changes.get(line.reads)]))
}

export function otherReads(file: string, others: ReadonlyMap<object, readonly string[] | undefined>): HarvestError {
  const [changed] = [...others.values()].slice(-1)
  return notComparable(
    {
      what: 'What the cached forks read is not as it was',
      where: {
        forks: `${others.size}`,
        ...(changed === undefined ? {} : { changed: neutralLine(firstNames(changed), 300) }),
        file,
      },
      why:
        changed === undefined
          ? 'It was not kept which environment variables and files they read, and unknown ones count as changed.'
          : 'Forks that read other environment variables or files are not comparable.',
    },
    changed !== undefined,
  )
}

function keptReads(file: string, name: string): RunReads | undefined {
  try {
    return JSON.parse(readKeptText(readsFileOf(file, name)) ?? '') as RunReads
  } catch {
    // It is gone, or a session that was killed left half of it.
    return undefined
  }
}

/** Forks that may not be counted together; those that are known to be other ones can be left out. */
export function notComparable(facts: Pick<ErrorFacts, 'what' | 'where' | 'why'>, isKnown: boolean): HarvestError {
  return new HarvestError('HARVEST_CROSS_VERSION', {
    ...facts,
    fix: [
      'to start again (the earlier forks stay in the file): --no-cache',
      ...(isKnown ? ['to go on without them: --cross-version'] : []),
    ],
  })
}
