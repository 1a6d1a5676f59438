import { createHash } from 'node:crypto'

/** What a worker runs. Code that stands in no file is named by a digest: it is too long to be written into a list. */
export function workerTarget(file: unknown, options?: { readonly eval?: boolean | undefined }): string {
  const text = String(file)
  const kind = options?.eval === true ? 'eval' : text.startsWith('data:') ? 'data' : undefined
  return kind === undefined ? text : `${kind}:${createHash('sha256').update(text).digest('hex').slice(0, 16)}`
}
