/** Whether an escape is on the list: `kind target`, where `*` matches anything. */
export function isAllowed(allow: readonly string[], kind: string, target: string): boolean {
  return allow.some((pattern) => {
    const parts = pattern.split('*').map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&'))
    return new RegExp(`^${parts.join('.*')}$`).test(`${kind} ${target}`)
  })
}
