/** Lengths of a frame's parts: total, headers, checksum of both; and the checksum after the payload. */
export const preludeBytes = 12
export const checksumBytes = 4

/** One frame of an AWS event stream, by offsets into its bytes. Headers are between prelude and payload. */
export interface AwsFrame {
  readonly start: number
  readonly end: number
  readonly payloadStart: number
  readonly payloadEnd: number
  /** The bytes reach to its end: the last frame of an answer that was cut off does not. */
  readonly isThere: boolean
  /** Its parts fit into its length. */
  readonly isSound: boolean
}

/**
 * The frames of an AWS event stream, up to and with the first that is torn or unsound. Checksums are left to the caller.
 *
 * @see https://docs.aws.amazon.com/transcribe/latest/dg/event-stream.html
 */
export function* awsFrames(bytes: Uint8Array): Generator<AwsFrame> {
  const data = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let start = 0; start + preludeBytes + checksumBytes <= bytes.length; ) {
    const end = start + data.getUint32(start)
    const payloadStart = start + preludeBytes + data.getUint32(start + 4)
    const payloadEnd = end - checksumBytes
    const frame = {
      start,
      end,
      payloadStart,
      payloadEnd,
      isThere: end <= bytes.length,
      isSound: payloadStart <= payloadEnd,
    }
    yield frame
    if (!frame.isThere || !frame.isSound) return
    start = end
  }
}
