import type { SecretNames } from './names.ts'

interface Means {
  readonly text: (text: string) => string
  readonly secret: (text: string) => string
}

/** Redacts a URL as it is spelled: nothing else of it changes. */
export function redactUrl(url: string, names: SecretNames, means: Means): string {
  if (url.startsWith('stdio:')) return means.text(redactFlags(url, names, means))
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
  return names.isSecretQuery(decoded(pair.slice(0, sign)), value)
    ? pair.slice(0, sign + 1) + means.secret(value).replaceAll('@', '%40')
    : pair
}

function redactFlags(command: string, names: SecretNames, means: Means): string {
  const flagged = /(?<=^|\s)(--?[\w-]{1,64})(=|\s{1,8})([^\s-]\S{0,8191})/g
  return command.replace(flagged, (whole, flag: string, sign: string, value: string) =>
    names.isSecretFlag(flag) ? `${flag}${sign}${means.secret(value)}` : whole,
  )
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    // A percent sign that begins no escape: the text means itself.
    return text
  }
}
