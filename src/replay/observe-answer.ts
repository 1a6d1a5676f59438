import type { Redactor } from '../privacy/index.ts'
import { decodeBody } from '../providers/index.ts'
import { type Chunk, decodeBytes, type ExchangeEvent } from '../tape/index.ts'

/** Takes note of the placeholders in an answer when the recorder did: once it is settled, and as the client reads it. */
export function observe(
  { redactor }: { readonly redactor: Redactor },
  { event }: { readonly event: ExchangeEvent },
): void {
  redactor.observeLater(() => observeNow(redactor, event))
}

function observeNow(redactor: Redactor, { response, error }: ExchangeEvent): void {
  if (error) redactor.observe(JSON.stringify(error))
  if (!response) return
  redactor.observe(JSON.stringify([response.statusText, response.headers]))
  const encoding = response.headers.find(([name]) => name === 'content-encoding')?.[1]
  const text = encoding ? undefined : textOf(response.chunks)
  if (text !== undefined) {
    redactor.observeBody(text)
    return
  }
  const pieces = response.chunks.map(([, , bytes]) => decodeBytes(bytes))
  redactor.observeChunks(encoding ? [Buffer.from(decodeBody(Buffer.concat(pieces), encoding))] : pieces)
}

/** The text of a body the tape has as text. */
function textOf(chunks: readonly Chunk[]): string | undefined {
  let text = ''
  for (const [, , bytes] of chunks) {
    if (typeof bytes !== 'string') return undefined
    text += bytes
  }
  return text
}
