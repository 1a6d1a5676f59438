import { seamState } from '../source.ts'

/** While a replay makes a client of a database file: nothing is asked of the file, so it is not opened. */
export const inMemory = 'clients/in memory'

/** The file that a database is opened with in its place. */
export function fileOf<T>(file: T): T | ':memory:' {
  return seamState().shared.has(inMemory) ? ':memory:' : file
}
