import { invalidOption, isFields, type OptionsOf } from '../errors/options.ts'
import type { TapeEvent } from '../tape/index.ts'
import { originOf } from './address.ts'

/** Recorded hosts and the hosts that are the same by now: `{ 'https://recorded': ['https://now'] }`. */
export type SameHosts = Readonly<Record<string, readonly string[]>>

/**
 * Turns the address of a live request into the one its host had when it was recorded, for the hosts a user said to be the
 * same. What is asked there is asked of the recorded host then, at every match level and in every message. A tape that was
 * recorded at the live host itself stays as it is.
 *
 * @param events - of the tape
 */
export function recordedHosts(hosts: SameHosts = {}, events: readonly TapeEvent[]): (url: string) => string {
  const recordedFor = new Map(
    Object.entries(hosts).flatMap(([recorded, live]) => live.map((one) => [originOf(one), new URL(recorded)] as const)),
  )
  if (recordedFor.size === 0) return (url) => url
  const onTape = new Set(events.flatMap((event) => (event.kind === 'exchange' ? [originOf(event.url)] : [])))
  for (const [live, { origin }] of recordedFor) if (onTape.has(live) && !onTape.has(origin)) recordedFor.delete(live)
  return (url) => {
    const recorded = recordedFor.get(originOf(url))
    return recorded === undefined ? url : url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, recorded.origin)
  }
}

/** Refuses hosts that cannot be meant. A live host can stand for one recorded host alone. */
export function checkHosts(of: OptionsOf, hosts: unknown): void {
  if (hosts === undefined) return
  if (!isFields(hosts)) throw invalidOption(of, 'hosts', hosts, "{ 'https://recorded': ['https://now'] }")
  const taken = new Map<string, string>()
  for (const [recorded, live] of Object.entries(hosts) as [string, unknown][]) {
    const name = `hosts['${recorded}']`
    if (!isOrigin(recorded)) throw invalidOption(of, 'hosts', recorded, hostShape)
    if (!Array.isArray(live) || live.length === 0)
      throw invalidOption(of, name, live, "a list of hosts, such as ['https://now']")
    for (const one of live as readonly unknown[]) {
      if (typeof one !== 'string' || !isOrigin(one)) throw invalidOption(of, name, one, hostShape)
      const other = taken.get(originOf(one))
      if (other !== undefined)
        throw invalidOption(of, 'hosts', one, `it under '${other}' or under '${recorded}', not under both`)
      taken.set(originOf(one), recorded)
    }
  }
}

const hostShape = "scheme, host and port alone, such as 'https://api.example.com'"

function isOrigin(value: string): boolean {
  if (!URL.canParse(value)) return false
  const { protocol, username, pathname, search, hash } = new URL(value)
  return /^https?:$/.test(protocol) && `${username}${search}${hash}` === '' && pathname === '/'
}
