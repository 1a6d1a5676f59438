import type { SecretNames } from './names.ts'

interface Means {
  readonly text: (text: string) => string
  readonly secret: (text: string) => string
  /** For a key that says who asks; absent: it is a secret as any other. */
  readonly key?: (text: string) => string
  /** Names whose value is a key no matter what it looks like. */
  readonly keys?: ReadonlySet<string>
}

/** Names under which a request carries its key. Signatures are no keys: they are made again, or stand in an answer. */
const keyNames = /^(?:x[-_]?)?(?:(?:api|access|auth|subscription)[-_]?)?(?:key|token)$/i

/** Redacts a URL as it is spelled: nothing else of it changes. */
export function redactUrl(url: string, names: SecretNames, means: Means): string {
  if (url.startsWith('stdio:')) return redactCommand(url, names, means)
  const withoutUser = url.replace(
    /^([a-z][a-z0-9+.-]{0,32}:\/\/)([^/?#]{1,2048})@/i,
    (_, scheme: string, user: string) => {
      return `${scheme}${means.secret(user)}@`
    },
  )
  const start = withoutUser.indexOf('?')
  if (start === -1) return means.text(withoutUser)
  const hash = withoutUser.indexOf('#', start)
  const end = hash === -1 ? withoutUser.length : hash
  const query = withoutUser
    .slice(start + 1, end)
    .split('&')
    .map((pair) => redactPair(pair, names, means))
  return means.text(`${withoutUser.slice(0, start + 1)}${query.join('&')}${withoutUser.slice(end)}`)
}

function redactPair(pair: string, names: SecretNames, means: Means): string {
  const sign = pair.indexOf('=')
  if (sign === -1) return pair
  const value = decoded(pair.slice(sign + 1))
  const name = decoded(pair.slice(0, sign))
  if (means.key !== undefined && value !== '') {
    if (means.keys?.has(name)) return pair.slice(0, sign + 1) + means.key(value)
    if (keyNames.test(name) && names.isSecretQuery(name, value)) return pair.slice(0, sign + 1) + means.key(value)
  }
  return names.isSecretQuery(name, value) ? pair.slice(0, sign + 1) + means.secret(value).replaceAll('@', '%40') : pair
}

/** `stdio:node server.ts --api-key …`: each word as `urlOfCommand` spells it. */
function redactCommand(command: string, names: SecretNames, means: Means): string {
  const words = command.slice('stdio:'.length).split(' ')
  const redacted = words.map((word, at) => {
    const text = decoded(word)
    const [flag = '', ...rest] = text.split('=')
    const value = rest.join('=')
    if (/^--?\w/.test(text) && value !== '') {
      const isSecret = names.isSecretFlag(flag) || isRandom(value)
      return respell(word, text, isSecret ? `${flag}=${means.secret(value)}` : means.text(text))
    }
    const before = decoded(words[at - 1] ?? '')
    const isFlagged = /^--?\w[^=]*$/.test(before) && names.isSecretFlag(before) && !text.startsWith('-')
    return respell(word, text, isFlagged || isRandom(text) ? means.secret(text) : means.text(text))
  })
  return means.text(`stdio:${redacted.join(' ')}`)
}

/** The word as it was, unless something in it was replaced. */
function respell(word: string, text: string, redacted: string): string {
  if (redacted === text) return word
  return word === text ? redacted : encodeURIComponent(redacted)
}

/**
 * Of an argument with slashes only the last part is kept, so that a tape replays on another machine; the beginning that
 * named what it was is then gone. A last part that looks like a key is one.
 */
function isRandom(word: string): boolean {
  if (/PRIVATE KEY(?: BLOCK)?-----/.test(word)) return true
  return /^[\w+-]{20,}={0,2}$/.test(word) && [/[a-z]/, /[A-Z]/, /\d/].every((kind) => kind.test(word))
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    // A percent sign that begins no escape: the text means itself.
    return text
  }
}
