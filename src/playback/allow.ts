/**
 * Whether an escape is on the list: `kind target`, where `*` matches anything.
 *
 * @param targets - the target as it is, and as messages say it, where they leave secrets out
 */
export function isAllowed(allow: readonly string[], kind: string, ...targets: readonly string[]): boolean {
  return allow.some((pattern) => {
    const parts = pattern.split('*').map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&'))
    const listed = new RegExp(`^${parts.join('.*')}$`)
    return targets.some((target) => listed.test(`${kind} ${target}`))
  })
}
