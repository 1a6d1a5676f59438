import { type JsonMap } from '../../json/canonical.ts'
import { serverSentEvents } from '../../providers/index.ts'
import { type Decided, type RecordedAnswer } from './types.ts'

/** A `GenerateContentResponse`; a stream of them becomes one. */
export function writeGemini({ isStream, whole, events }: RecordedAnswer, { text, calls }: Decided): string {
  const parts: readonly JsonMap[] =
    calls.length > 0 ? calls.map(({ name, args }) => ({ functionCall: { name, args } })) : [{ text }]
  const candidates = [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }]
  // The last of a stream is the one that counts what was used.
  const answer: JsonMap = { ...whole, ...events.at(-1), candidates }
  return isStream ? serverSentEvents([answer], false) : JSON.stringify(answer)
}
