import { isEventStream } from '../src/wire/event-stream.ts'
import { requestText } from '../src/providers/exchange.ts'
import { readFrames } from '../src/wire/frames.ts'
import { decodeBody, readModelCall } from '../src/providers/index.ts'
import { at, parseJson, textAt } from '../src/json/canonical.ts'
import { type ExchangeEvent, responseBytes } from '../src/tape/index.ts'

/** What a manifest and a tape are compared in. */
export type Compared = 'format' | 'n' | 'models' | 'statuses' | 'streaming' | 'tools'

/** Why a manifest and a tape disagree, and who is right. */
export interface Rule {
  readonly what: Compared
  readonly claim: string
  readonly verdict: string
  /** Whether the bytes bear it out. */
  holds(manifest: unknown, tape: unknown, exchanges: readonly ExchangeEvent[]): boolean
}

/**
 * The rule that explains a disagreement, from the bytes of the exchanges alone: no rule knows a file.
 *
 * @returns `undefined` when nobody has argued such a one
 */
export function argue(
  what: Compared,
  manifest: unknown,
  tape: unknown,
  exchanges: readonly ExchangeEvent[],
): Rule | undefined {
  return rules.find((rule) => rule.what === what && rule.holds(manifest, tape, exchanges))
}

const rules: readonly Rule[] = [
  {
    what: 'tools',
    claim: 'the tape has calls that the manifest has not',
    verdict:
      'The tape is right: each call stands, by name and as often, in the answer of a model. The program that made the manifest does not know all dialects and forms (`function_call`, Writer, bodies in hex).',
    holds(manifest, tape, exchanges) {
      const [guessed, read] = [manifest as readonly string[], tape as readonly string[]]
      const written = exchanges.filter((event) => readModelCall(event) !== undefined).flatMap(namesIn)
      const isAmong = (few: readonly string[], many: readonly string[]): boolean =>
        few.every((name) => count(few, name) <= count(many, name))
      return isAmong(guessed, read) && isAmong(read, written)
    },
  },
  {
    what: 'streaming',
    claim: 'the manifest says whole, the tape says streamed',
    verdict:
      'The tape is right: an answer came in the frames of an event stream, or in several events after a request that asked for a stream. The manifest goes by content types, which recorders drop, and by dialects it knows.',
    holds: (manifest, _, exchanges) =>
      manifest === false &&
      exchanges.filter(isStream).some((event) => {
        const bytes = answerOf(event)
        return isEventStream(bytes) || (asksForStream(event) && readFrames(bytes).values.length > 1)
      }),
  },
  {
    what: 'models',
    claim: 'the manifest has a model that the tape has not',
    verdict:
      'Both are: the request that names it is on the tape, and asks no model to say anything (reranking, counting words, setting up an assistant, pictures, speech), so it is no model call.',
    holds: (_, missing, exchanges) =>
      (missing as readonly string[]).every((model) =>
        exchanges.some(
          (event) =>
            readModelCall(event) === undefined &&
            wordless.test(event.url) &&
            textAt(parseJson(requestText(event)), 'model') === model,
        ),
      ),
  },
]

/** Endpoints that take a model and ask it for no words. */
const wordless =
  /\/(rerank|(de)?tokenize|assistants(\/[^/]+)?|moderations|images\/\w+|audio\/\w+|fine_tuning\/jobs|batches)(\?|$)/

/** Whether a model answered in pieces: events, lines, parts of an array, frames. */
export function isStream(event: ExchangeEvent): boolean {
  if (readModelCall(event) === undefined) return false
  const bytes = answerOf(event)
  if (isEventStream(bytes) || /^\s*(data|event):/.test(bytes.toString('utf8', 0, 200))) return true
  return readFrames(bytes).values.length > 1
}

function asksForStream(event: ExchangeEvent): boolean {
  return at(parseJson(requestText(event)), 'stream') === true || /stream/i.test(event.url)
}

/** Every name an answer gives, wherever it stands: found without knowing dialects. */
function namesIn(event: ExchangeEvent): readonly string[] {
  const text = JSON.stringify(readFrames(answerOf(event)).values)
  return [...text.matchAll(/"(?:name|toolName|function)":"((?:[^"\\]|\\.)*)"/g)].map(([, name = '']) => name)
}

function answerOf(event: ExchangeEvent): Buffer {
  const encoding = event.response?.headers.find(([name]) => name.toLowerCase() === 'content-encoding')?.[1]
  return Buffer.from(decodeBody(responseBytes(event), encoding))
}

function count(list: readonly string[], name: string): number {
  return list.filter((one) => one === name).length
}
