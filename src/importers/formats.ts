import { anthropicAgent } from './anthropic-agent.ts'
import { aimock } from './aimock.ts'
import { ddTestAgent } from './dd-test-agent.ts'
import type { BytesFormat, ForeignDocument, ForeignFormat } from './document.ts'
import { goVcr } from './go-vcr.ts'
import { har } from './har.ts'
import { httprr } from './httprr.ts'
import { nock } from './nock.ts'
import { otlp } from './otlp.ts'
import { otelSpans } from './otel-spans.ts'
import { jaeger } from './jaeger.ts'
import { langsmith } from './langsmith.ts'
import { langfuse } from './langfuse.ts'
import { braintrust } from './braintrust.ts'
import { deepeval } from './deepeval.ts'
import { refusal } from './refusal.ts'
import { rubyVcr } from './ruby-vcr.ts'
import type { ImportFormat } from './types.ts'
import { undiciSnapshot } from './undici-snapshot.ts'
import { vcrpy } from './vcrpy.ts'

/** Formats of text. A document is in one of them at most; the order is that in which they are asked. */
export const formats: readonly ForeignFormat[] = [
  rubyVcr,
  har,
  vcrpy,
  goVcr,
  aimock,
  ddTestAgent,
  nock,
  undiciSnapshot,
  otlp,
  otelSpans,
  jaeger,
  langsmith,
  langfuse,
  braintrust,
  deepeval,
  anthropicAgent,
]

/** Formats that are no text; their first bytes tell. */
export const bytesFormats: readonly BytesFormat[] = [httprr]

/**
 * The format of a document: the one that was named, or the one it is told to be by the names it uses.
 *
 * @throws HarvestError `HARVEST_IMPORT_UNKNOWN`
 */
export function formatOf(document: ForeignDocument, named?: ImportFormat): ForeignFormat {
  const format = formats.find(({ name, recognises }) => (named === undefined ? recognises(document) : name === named))
  if (format !== undefined) return format
  throw refusal('HARVEST_IMPORT_UNKNOWN', { file: document.file }, 'it is no recording of a format that is known')
}
