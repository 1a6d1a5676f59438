import { codingOf, type Redactor } from '../privacy/index.ts'
import { decodeBytes, type ExchangeEvent, type HeaderPair, type Outcome } from '../tape/index.ts'
import type { RetentionDecision } from './run-stats.ts'

/** Looks through an exchange that is let go, as it came: the redactor knows then what it names as secret. */
export function lookThrough({ url, request, response }: ExchangeEvent, redactor: Redactor): void {
  redactor.url(url)
  redactor.requestHeaders(request.headers)
  const { body } = request
  // As it was heard it holds no references.
  if (body !== undefined && !(typeof body === 'object' && 'like' in body)) search(request.headers, [body])
  if (response === undefined) return
  redactor.headers(response.headers)
  search(
    response.headers,
    response.chunks.map(([, , bytes]) => bytes),
  )

  function search(headers: readonly HeaderPair[], pieces: readonly Parameters<typeof decodeBytes>[0][]): void {
    redactor.packed(pieces.map(decodeBytes), codingOf(headers))
  }
}

/** What is said of a run of which all was let go: nothing tells which of its words are secret. */
export function withoutWords(
  outcome: Outcome,
  verdict: RetentionDecision,
  why: string,
): { readonly outcome: Outcome; readonly verdict: RetentionDecision } {
  const { kept } = verdict
  return {
    outcome: outcome.status === 'threw' ? { status: 'threw', error: why } : { status: 'returned' },
    verdict: { ...verdict, ...(kept && { kept: kept.map(({ because }) => ({ because })) }) },
  }
}
