import { originOf } from './address.ts'

/** Recorded hosts and the hosts that are the same by now: `{ 'https://recorded': ['https://now'] }`. */
export type SameHosts = Readonly<Record<string, readonly string[]>>

/**
 * Turns the address of a live request into the one its host had when it was recorded, for the hosts a user said to be the
 * same. What is asked there is asked of the recorded host then, on every rung and in every message.
 */
export function recordedHosts(hosts: SameHosts = {}): (url: string) => string {
  const recordedFor = new Map(
    Object.entries(hosts).flatMap(([recorded, live]) => live.map((one) => [originOf(one), new URL(recorded)] as const)),
  )
  if (recordedFor.size === 0) return (url) => url
  return (url) => {
    const recorded = recordedFor.get(originOf(url))
    return recorded === undefined ? url : url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, recorded.origin)
  }
}

/**
 * What is wrong with the option, as the part of it and what is expected there; `undefined` when nothing is.
 * A live host can stand for one recorded host alone.
 */
export function hostsIssue(hosts: unknown): { readonly part: string; readonly expected: string } | undefined {
  if (typeof hosts !== 'object' || hosts === null || Array.isArray(hosts)) {
    return { part: `hosts: ${String(hosts)}`, expected: "{ 'https://recorded': ['https://now'] }" }
  }
  const taken = new Map<string, string>()
  for (const [recorded, live] of Object.entries(hosts)) {
    if (!isOrigin(recorded)) return { part: `hosts: { '${recorded}' }`, expected: hostShape }
    if (!Array.isArray(live) || live.length === 0) {
      return { part: `hosts: { '${recorded}': ${String(live)} }`, expected: "a list of hosts, such as ['https://now']" }
    }
    for (const one of live as readonly unknown[]) {
      if (typeof one !== 'string' || !isOrigin(one))
        return { part: `hosts: { '${recorded}': ['${String(one)}'] }`, expected: hostShape }
      const other = taken.get(originOf(one))
      if (other !== undefined) {
        return { part: `hosts: '${one}' twice`, expected: `it under '${other}' or under '${recorded}', not under both` }
      }
      taken.set(originOf(one), recorded)
    }
  }
  return undefined
}

const hostShape = "scheme, host and port alone, such as 'https://api.example.com'"

function isOrigin(value: string): boolean {
  if (!URL.canParse(value)) return false
  const { protocol, username, pathname, search, hash } = new URL(value)
  return /^https?:$/.test(protocol) && `${username}${search}${hash}` === '' && pathname === '/'
}
