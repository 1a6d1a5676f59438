import type { Json } from '../../tape/types.ts'
import { readAddress } from '../dialect.ts'
import { readFrames } from '../../wire/frames.ts'
import { at, isMap, type JsonMap } from '../../json/canonical.ts'
import { readModelResponse } from '../response.ts'
import { isOllama } from '../spelling/ollama.ts'
import { anthropicEvents, anthropicWhole } from './anthropic.ts'
import { cohereEvents, cohereWhole } from './cohere.ts'
import { converseEvents, converseWhole } from './converse.ts'
import type { FormedRequest } from './form.ts'
import { geminiEvents, geminiWhole } from './gemini.ts'
import { ollamaEvents, ollamaWhole } from './ollama.ts'
import { chatEvents, chatWhole } from './openai-chat.ts'
import { responsesEvents, responsesWhole } from './openai-responses.ts'
import { eventStreamFrames, jsonLines, serverSentEvents } from './write.ts'

export { type FormedRequest, inOtherForm, readForm, type WireForm } from './form.ts'
export { serverSentEvents } from './write.ts'

/** An answer in the other of its two forms. */
export interface Transcoded {
  readonly contentType: string
  readonly bytes: Uint8Array
}

/**
 * Writes an answer in the form it is asked for, `asked.form`, from the other one. Nothing of the answer is lost or made up
 * but the pieces of a stream: each block of the answer comes in one.
 *
 * @param bytes - the recorded body, decoded
 * @returns `undefined` where it cannot be seen: a stream that broke off, or has events or pieces of a type that is not known
 */
export function transcode(asked: FormedRequest, bytes: Uint8Array): Transcoded | undefined {
  const { values, unreadable } = readFrames(bytes)
  const events = values.filter(isMap)
  if (unreadable > 0 || events.length !== values.length || events.some(isError)) return undefined
  const dialect = dialectNamed(asked)
  if (dialect === undefined) return undefined
  if (asked.form === 'stream') {
    const [whole, ...more] = events
    const written = whole === undefined || more.length > 0 ? undefined : dialect.events(whole, asked.body)
    return written && { contentType: dialect.contentType, bytes: Buffer.from(dialect.write(written)) }
  }
  if (readModelResponse(asked.dialect, { status: 200, bytes }).unknownEvents > 0) return undefined
  // What Bedrock adds to a stream is no event of its model.
  const whole = dialect.whole(events.filter((event) => at(event, 'type') !== 'ping' && !isMetrics(event)))
  return whole && { contentType: 'application/json', bytes: Buffer.from(JSON.stringify(whole)) }
}

function isError(event: JsonMap): boolean {
  // The whole of a kept answer tells its error beside everything else.
  return at(event, 'type') === 'error' || (isMap(at(event, 'error')) && at(event, 'object') !== 'response')
}

function isMetrics(event: JsonMap): boolean {
  return Object.keys(event).every((key) => key === 'amazon-bedrock-invocationMetrics')
}

/** How a dialect is streamed. */
interface StreamedDialect {
  readonly contentType: string
  readonly events: (whole: JsonMap, asked: JsonMap) => readonly JsonMap[] | undefined
  readonly whole: (events: readonly JsonMap[]) => JsonMap | undefined
  readonly write: (events: readonly JsonMap[]) => string | Buffer
}

const sse = 'text/event-stream; charset=utf-8'
const frames = 'application/vnd.amazon.eventstream'

function dialectNamed({ dialect, url }: FormedRequest): StreamedDialect | undefined {
  const { path } = readAddress(url)
  switch (dialect) {
    case 'openai-chat':
      if (isOllama(path)) {
        return { contentType: 'application/x-ndjson', events: ollamaEvents, whole: ollamaWhole, write: jsonLines }
      }
      return {
        contentType: sse,
        events: chatEvents,
        whole: chatWhole,
        write: (events) => serverSentEvents(events, false, true),
      }
    case 'openai-responses':
      return { contentType: sse, events: responsesEvents, whole: responsesWhole, write: named }
    case 'anthropic': {
      const both = { events: anthropicEvents, whole: anthropicWhole }
      return /\/invoke(-with-response-stream)?$/.test(path)
        ? { ...both, contentType: frames, write: (events) => eventStreamFrames(events.map(wrapped)) }
        : { ...both, contentType: sse, write: named }
    }
    case 'gemini': {
      const both = { events: geminiEvents, whole: geminiWhole }
      return /[?&]alt=sse(&|$)/.test(url)
        ? { ...both, contentType: sse, write: (events) => serverSentEvents(events, false) }
        : { ...both, contentType: 'application/json; charset=UTF-8', write: (events) => JSON.stringify(events) }
    }
    case 'bedrock-converse':
      return {
        contentType: frames,
        events: converseEvents,
        whole: converseWhole,
        write: (events) => eventStreamFrames(events.flatMap((event) => Object.entries(event))),
      }
    case 'cohere':
      return { contentType: sse, events: cohereEvents, whole: cohereWhole, write: named }
    default:
      return undefined
  }
}

function named(events: readonly JsonMap[]): string {
  return serverSentEvents(events, true)
}

/** An event of a model in the envelope of `invoke`. */
function wrapped(event: JsonMap): readonly [type: string, payload: Json] {
  return ['chunk', { bytes: Buffer.from(JSON.stringify(event)).toString('base64') }]
}
