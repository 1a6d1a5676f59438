import { crc32 } from 'node:zlib'
import { type AwsFrame, awsFrames, checksumBytes, preludeBytes } from '../wire/aws-frames.ts'
import { type ByteEdit, cutPieces } from './edits.ts'

/**
 * Redacts the binary event stream in which Amazon Bedrock answers; `undefined` when the bytes are not one.
 *
 * Each frame has lengths and checksums around its payload, so a frame whose payload changes is written again. It
 * stands where the old one began. Payloads are JSON, or the base64 of JSON in a field `bytes`; one to a line they
 * are what a stream of JSON lines is.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/RESTSelectObjectAppendix.html
 */
export function redactAwsEvents(
  pieces: readonly Buffer[],
  redact: (lines: string) => string,
): readonly Buffer[] | undefined {
  const bytes = Buffer.concat(pieces)
  const frames = framesIn(bytes)
  if (frames === undefined) return undefined
  const lines = frames.map(({ line }) => line)
  const redacted = redact(lines.join('\n')).split('\n')
  // A line feed inside a payload would shift the lines: each is then redacted by itself.
  const after = redacted.length === lines.length ? redacted : lines.map(redact)
  const edits = frames.flatMap((frame, at): ByteEdit[] =>
    after[at] === frame.line
      ? []
      : [{ start: frame.start, end: frame.end, bytes: rewritten(bytes, frame, after[at]!) }],
  )
  return edits.length === 0 ? pieces : cutPieces(pieces, edits)
}

/** What the payloads of an event stream say, one to a line; `undefined` when the bytes are not one. */
export function awsLines(pieces: readonly Buffer[]): string | undefined {
  return framesIn(Buffer.concat(pieces))
    ?.map(({ line }) => line)
    .join('\n')
}

/** Whether bytes can begin with a whole frame: its length stands in the first four. */
export function mayBeFrame(bytes: Buffer): boolean {
  return bytes.length >= preludeBytes + checksumBytes && bytes.readUInt32BE(0) <= bytes.length
}

interface Frame extends AwsFrame {
  /** The payload, or what the base64 in it says. */
  readonly line: string
  readonly isBase64: boolean
}

const bytesField = /^\{(?:"p":"[^"]*",)?"bytes":"([A-Za-z0-9+/=]*)"/

function framesIn(bytes: Buffer): readonly Frame[] | undefined {
  const frames: Frame[] = []
  for (const frame of awsFrames(bytes)) {
    // The last frame of an answer that was cut off.
    if (!frame.isThere && frames.length > 0) break
    if (!frame.isThere || !frame.isSound || !isChecked(bytes, frame)) return undefined
    const payload = bytes.toString('utf8', frame.payloadStart, frame.payloadEnd)
    const base64 = bytesField.exec(payload)?.[1]
    const line = base64 === undefined ? payload : Buffer.from(base64, 'base64').toString('utf8')
    frames.push({ ...frame, line, isBase64: base64 !== undefined })
  }
  return frames.length === 0 ? undefined : frames
}

function isChecked(bytes: Buffer, { start, payloadEnd }: AwsFrame): boolean {
  return (
    bytes.readUInt32BE(start + 8) === crc32(bytes.subarray(start, start + 8)) &&
    bytes.readUInt32BE(payloadEnd) === crc32(bytes.subarray(start, payloadEnd))
  )
}

function rewritten(bytes: Buffer, { start, payloadStart, payloadEnd, isBase64 }: Frame, line: string): Buffer {
  const old = bytes.toString('utf8', payloadStart, payloadEnd)
  const inBase64 = (whole: string, base64: string): string =>
    whole.replace(base64, Buffer.from(line).toString('base64'))
  const payload = Buffer.from(isBase64 ? old.replace(bytesField, inBase64) : line)
  const headers = bytes.subarray(start + preludeBytes, payloadStart)
  const frame = Buffer.alloc(preludeBytes + headers.length + payload.length + checksumBytes)
  frame.writeUInt32BE(frame.length, 0)
  frame.writeUInt32BE(headers.length, 4)
  frame.writeUInt32BE(crc32(frame.subarray(0, 8)), 8)
  headers.copy(frame, preludeBytes)
  payload.copy(frame, preludeBytes + headers.length)
  frame.writeUInt32BE(crc32(frame.subarray(0, frame.length - checksumBytes)), frame.length - checksumBytes)
  return frame
}
