import type { FirstNames } from './names.ts'
import type { Finder, TextRange } from '../types.ts'

// The scheme is looked at backwards from `://`; user and password end at the last `@` before the path.
const userInfoPattern = /([^\s/?#@"'<>\\:]{0,256}):([^\s/?#"'<>\\]{1,256})@/y

/** Finds passwords in URLs: `postgres://user:password@host`. */
export const findUrlPasswords: Finder = (text) => {
  const found: TextRange[] = []
  for (let at = text.indexOf('://'); at !== -1; at = text.indexOf('://', at + 3)) {
    userInfoPattern.lastIndex = at + 3
    const match = userInfoPattern.exec(text)
    const [, user = '', value = ''] = match ?? []
    if (value === '' || /^[$<{]/.test(value)) continue
    const start = at + 3 + user.length + 1
    found.push({ kind: 'url-password', start, end: start + value.length, value, contextual: true })
  }
  return found
}

const queryName = /[?&]([\w.[\]-]{1,64})$/
// A form has no sign before its first name.
const firstName = /^([\w.[\]-]{1,64})$/
const queryValue = /[^&#\s"'<>\\`]{1,8192}/y

/** Finds secret values in queries and forms: `?api_key=…`, and `&sig=…` when it looks random. */
export function queryFinder(names: FirstNames): Finder {
  return (text) => {
    const found: TextRange[] = []
    for (let at = text.indexOf('='); at !== -1; at = text.indexOf('=', at + 1)) {
      const before = text.slice(Math.max(0, at - 65), at)
      const first = at < 65 ? firstName.exec(before)?.[1] : undefined
      const name = queryName.exec(before)?.[1] ?? first
      if (name === undefined) continue
      queryValue.lastIndex = at + 1
      const value = queryValue.exec(text)?.[0]
      if (value === undefined || !names.isSecretQuery(name, value)) continue
      // What always is secret is found by its name wherever that stands.
      if (name === first && names.isSecret(name, value)) continue
      found.push({ kind: 'secret', start: at + 1, end: at + 1 + value.length, value, contextual: true })
    }
    return found
  }
}
