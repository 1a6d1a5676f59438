import type { Loose } from './ask.ts'

/** A database of drizzle-orm: it lies over the client of another driver. */
export function clientOfDrizzle(given: Loose): Loose | undefined {
  const { session, $client } = given
  const isDrizzle = typeof given['select'] === 'function' && typeof session === 'object' && session !== null
  return isDrizzle && ($client !== undefined || (session as Loose)['client'] !== undefined)
    ? (($client ?? (session as Loose)['client']) as Loose)
    : undefined
}

/** Puts the client behind the seam in its place. */
export function reseat(database: Loose, made: object): void {
  const session = database['session'] as Loose
  if (session['client'] !== undefined) session['client'] = made
  if ('$client' in database) database['$client'] = made
}
