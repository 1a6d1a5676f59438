import { HarvestError } from '../errors/index.ts'
import { decodeBody, type FormedRequest, transcode, type WireForm } from '../providers/index.ts'
import { type Chunk, decodeBytes, encodeBytes, type RecordedResponse } from '../tape/index.ts'
import type { ProblemLocation } from '../playback/problems.ts'
import { describeStep, type ExchangeState } from '../match/step.ts'
import type { TranscodedStep } from '../match/types.ts'

/** A recorded answer in the form it is asked for, or why there is no such form. */
export type InAskedForm =
  | { readonly response: RecordedResponse | undefined; readonly isTranscoded: boolean }
  | { readonly missing: string }

/**
 * Writes the recorded answer of a model in the form a request asks for. The model does not get to know the form: its question
 * is the same. Errors and refusals have one form and stay as they are.
 *
 * The answer keeps its recorded moments; its body is complete at the last of them.
 */
export function inAskedForm({ event }: ExchangeState, asked: FormedRequest): InAskedForm {
  const { response, error, aborted } = event
  if (response === undefined) return { response, isTranscoded: false }
  if (response.status < 200 || response.status > 299) return { response, isTranscoded: false }
  if (response.end === undefined || error !== undefined || aborted !== undefined) {
    return { missing: 'The recorded answer broke off, so the rest of it is unknown.' }
  }
  const encoding = response.headers.find(([name]) => name.toLowerCase() === 'content-encoding')?.[1]
  const bytes = decodeBody(Buffer.concat(response.chunks.map(([, , chunk]) => decodeBytes(chunk))), encoding)
  const written = transcode(asked, bytes)
  const last = response.chunks.at(-1)
  if (written === undefined || last === undefined) {
    return { missing: 'The recorded answer is incomplete, or has parts of a type that this version does not know.' }
  }
  const headers = response.headers.filter(([name]) => !formHeaders.has(name.toLowerCase()))
  const chunks = response.chunks.map(
    (chunk): Chunk => [chunk[0], chunk[1], chunk === last ? encodeBytes(Buffer.from(written.bytes)) : ''],
  )
  return {
    response: { ...response, headers: [...headers, ['content-type', written.contentType]], chunks },
    isTranscoded: true,
  }
}

/** What headers say of the form alone. */
const formHeaders: ReadonlySet<string> = new Set([
  'content-type',
  'content-length',
  'content-encoding',
  'transfer-encoding',
])

/** `step 3: recorded whole, asked as a stream; the pieces are made up` */
export function describeTranscoded({ stepNumber, from, to }: TranscodedStep): string {
  const made = to === 'stream' ? 'the pieces are made up' : 'the pieces are put together'
  return `step ${stepNumber}: recorded ${named(from)}, asked ${named(to)}; ${made}`
}

export function otherForm(place: ProblemLocation, step: ExchangeState, to: WireForm, why: string): HarvestError {
  const [asked, recorded] = to === 'stream' ? ['stream', 'whole answer'] : ['whole answer', 'stream']
  return new HarvestError('HARVEST_ANSWER_FORM', {
    what: `The agent requests a ${asked}, but a ${recorded} was recorded`,
    where: { tape: place.tape.header.id, step: describeStep(step), ...(place.site ? { at: place.site } : {}) },
    why,
    fix: [`request a ${recorded} again`, 'or record the run again and promote the new tape'],
  })
}

function named(form: WireForm): string {
  return form === 'stream' ? 'as a stream' : 'whole'
}
