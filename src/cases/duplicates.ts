import { HarvestError } from '../errors/index.ts'
import type { Case } from './types.ts'

/** An id that more than one case file has. */
export interface DuplicateId {
  readonly id: string
  /** In order of their files. */
  readonly cases: readonly Case[]
  /** HARVEST_CASE_DUPLICATE_ID, ready to be thrown or shown. */
  readonly error: HarvestError
}

/** Finds ids that more than one of these cases has: `npx vitest-harvest show <id>` could not tell them apart. */
export function findDuplicateIds(cases: readonly Case[]): readonly DuplicateId[] {
  const byId = Map.groupBy(cases, ({ id }) => id)
  return [...byId]
    .filter(([, same]) => same.length > 1)
    .map(([id, same]) => {
      const inOrder = same.toSorted((a, b) => (a.file < b.file ? -1 : 1))
      return { id, cases: inOrder, error: duplicateId(id, inOrder) }
    })
}

function duplicateId(id: string, cases: readonly Case[]): HarvestError {
  const places = cases.map(({ file, lines }) => `${file}:${lines.case}:1`)
  return new HarvestError('HARVEST_CASE_DUPLICATE_ID', {
    what: `${cases.length} cases have the id ${id}`,
    where: Object.fromEntries(places.map((place, index) => [index === 0 ? 'case' : `and ${index + 1}`, place])),
    why: 'An id must be unique in the golden set, because commands use it.',
    fix: ['give one of them another id in its `case:` line'],
  })
}
