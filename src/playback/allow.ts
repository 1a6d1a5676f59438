/**
 * Whether an escape is on the list: `kind target`, where `*` matches anything.
 *
 * @param targets - the target as it is, and as messages say it, where they leave secrets out
 */
export function isAllowed(allow: readonly string[], kind: string, ...targets: readonly string[]): boolean {
  return allow.some((pattern) => targets.some((target) => isListed(pattern, `${kind} ${target}`)))
}

/** @param text - an escape, or a pattern of them: every text that matches this one matches the other then, too */
export function isListed(pattern: string, text: string): boolean {
  const parts = pattern.split('*').map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`).test(text)
}
