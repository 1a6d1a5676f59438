import { isUtf8 } from 'node:buffer'
import { HarvestError, neutralLine } from '../errors/index.ts'
import { createRedactor, type RedactorOptions, rulesOfTape } from '../privacy/index.ts'
import { requestBytes, responseBytes, type Tape } from '../tape/index.ts'

/** @throws HARVEST_PROMOTE_TRUNCATED, HARVEST_PROMOTE_INCOMPLETE */
export function refuseUnfinished({ source, events, close }: Tape): void {
  if (close === undefined) {
    throw new HarvestError('HARVEST_PROMOTE_TRUNCATED', {
      what: 'The tape is truncated: nobody knows how its run ended, so it cannot become a case',
      where: { tape: source, holds: `${events.length} event(s) and no closing line` },
      why: 'The recorded process ended before its run did, or the end of the file was lost.',
      fix: ['record the run again', `to see what was recorded: npx harvest show ${source}`],
    })
  }
  if (close.incomplete !== undefined) {
    throw new HarvestError('HARVEST_PROMOTE_INCOMPLETE', {
      what: 'The recording of this tape failed on the way, so it cannot become a case',
      where: { tape: source, reason: neutralLine(close.incomplete) },
      why: 'A replay would miss what the recorder could not write down.',
      fix: ['record the run again'],
    })
  }
}

/**
 * Looks for secrets once more: the recorder takes them out before it writes, but a tape from elsewhere, or one that
 * was recorded with other rules, may hold some, and a case is committed for everybody to read.
 *
 * @throws HARVEST_PROMOTE_SECRET with kinds and lines, never with what was found
 */
export function refuseSecrets(tape: Tape, text: string, options: RedactorOptions): void {
  const redactor = createRedactor({ ...rulesOfTape(tape.header.redact), ...options })
  const inText = (part: string): readonly string[] => redactor.scan(part).map(({ kind }) => kind)
  const found = text
    .split('\n')
    .flatMap((line, index) => inText(withoutPieces(line)).map((kind) => `line ${index + 1}: ${kind}`))
  // A body that came in pieces is in pieces on its line; put together it may hold what none of them does.
  const bodies = found.length > 0 ? [] : bodiesOf(tape)
  const places = new Set([
    ...found,
    ...bodies.flatMap(([place, body]) => inText(body).map((kind) => `${place}: ${kind}`)),
  ])
  if (places.size === 0) return
  const shown = [...places].slice(0, 12)
  const more = places.size - shown.length
  throw new HarvestError('HARVEST_PROMOTE_SECRET', {
    what: 'The tape holds what looks like a secret, and a case is committed for everybody to read',
    where: { tape: tape.source },
    detail: [...shown, ...(more > 0 ? [`… and ${more} more`] : [])].map((line) => `  ${line}`).join('\n'),
    fix: ['record the run again: the recorder takes secrets out before it writes'],
  })
}

/** A line without the pieces of an answer: cut anywhere, half a word can look like something it is not. */
function withoutPieces(line: string): string {
  if (!line.includes('"chunks":')) return line
  return JSON.stringify(JSON.parse(line), (key, value: unknown) => (key === 'chunks' ? undefined : value))
}

function bodiesOf({ events }: Tape): readonly (readonly [place: string, body: string])[] {
  return events.flatMap((event) => {
    if (event.kind !== 'exchange') return []
    const sides = [
      [`request of event ${event.n}`, requestBytes(event)],
      [`response of event ${event.n}`, responseBytes(event)],
    ] as const
    return sides.flatMap(([place, bytes]) => (isUtf8(bytes) ? [[place, bytes.toString('utf8')] as const] : []))
  })
}
