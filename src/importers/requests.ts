import type { Cursor } from './cursor.ts'

/** An HTTP method in capitals. */
export function methodOf(method: Cursor): string {
  const text = method.text.toUpperCase()
  if (/^[A-Z][A-Z-]{0,30}$/.test(text)) return text
  throw method.refuse(`'${text.slice(0, 40)}' is not an HTTP method`)
}

/** An absolute HTTP URL, as it stands in the file: placeholders of a recorder may be in it. */
export function urlOf(url: Cursor): string {
  return checkedUrl(url.text, url)
}

/** As {@link urlOf}, of a text put together from several parts. */
export function checkedUrl(text: string, place: Cursor): string {
  if (steadyUrl(text) !== undefined) return text
  const address = `'${text.slice(0, 80)}'`
  throw place.refuse(
    /^wss?:/i.test(text)
      ? `${address} is a WebSocket: its frames cannot be imported`
      : `${address} is not an absolute HTTP URL`,
  )
}

/** Longer than any call takes; a number beyond it is a mistake, and no time. */
const longestMs = 24 * 3_600_000

/** A duration, or `undefined` for a number that can be none. */
export function tookOf(ms: number | undefined): number | undefined {
  return ms !== undefined && ms >= 0 && ms <= longestMs ? ms : undefined
}

/** A URL that can be read. */
export interface SteadyUrl {
  readonly url: string
  /** A placeholder stands where a part of the address was. */
  readonly hasPlaceholder: boolean
}

/** An address without its fragment, which is never sent. Some clients mark their own with one, such as `#stream`. */
export function sentUrl(url: string): string {
  return url.replace(/#.*$/s, '')
}

/**
 * Makes an address of one in which a recorder put placeholders for what must not be known, such as `<AWS_REGION>`: their
 * names in lower case stand in their place. A whole host that is not known is one below `.invalid`.
 *
 * @returns `undefined` when it is no absolute HTTP URL even so
 */
export function steadyUrl(text: string): SteadyUrl | undefined {
  if (isHttp(text)) return { url: text, hasPlaceholder: false }
  const based = /^https?:\/\//i.test(text) ? text : text.replace(/^<([A-Z][A-Z0-9_]{0,60})>/, 'https://<$1>.invalid')
  const url = based.replace(/<([A-Z][A-Z0-9_]{0,60})>/g, (_, name: string) => name.toLowerCase().replaceAll('_', '-'))
  return url !== text && isHttp(url) ? { url, hasPlaceholder: true } : undefined
}

function isHttp(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text)
}

/** A moment as epoch ms, or `undefined` where none can be read. */
export function momentOf(moment: Cursor): number | undefined {
  const ms = Date.parse(moment.maybeText ?? '')
  return Number.isNaN(ms) ? undefined : ms
}
