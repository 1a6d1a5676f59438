/**
 * Whether an escape is on the list: `kind target`, where `*` matches anything.
 *
 * @param targets - the target as it is, and as messages say it, where they leave secrets out
 */
export function isAllowed(allow: readonly string[], kind: string, ...targets: readonly string[]): boolean {
  if (targets.some((target) => isCutOff(kind, target))) return false
  return allow.some((pattern) => targets.some((target) => isListed(pattern, `${kind} ${target}`)))
}

/** Set to 1 by `--no-network`. */
export const noNetworkVariable = 'VITEST_HARVEST_NO_NETWORK'

// Read before any agent is there.
const isShut = process.env[noNetworkVariable] === '1'

/** Whether it is the socket of a file where nothing may connect: such sockets lead out of a network namespace. */
export function isCutOff(kind: string, target: string): boolean {
  return kind === 'socket' && !/^[^/\\]*:(?:\d+|\?)$/.test(target) && isShut
}

/** @param text - an escape, or a pattern of them: every text that matches this one matches the other then, too */
export function isListed(pattern: string, text: string): boolean {
  const parts = pattern.split('*').map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`).test(text)
}
