interface Statement {
  readonly type: string
  readonly source?: { readonly value?: unknown } | null
}

const own = 'vitest-harvest/vitest'

/**
 * A test by hand with what replays imported before its agent: what the agent takes, or lays over `fetch`, while it loads is
 * heard of from there on.
 *
 * @param parse - parses the code of a module
 * @returns the module, its lines where they were; `undefined` when nothing else is imported before
 */
export function importFirst(
  code: string,
  parse: (code: string) => { readonly body: readonly Statement[] },
): string | undefined {
  if (!code.includes(own)) return undefined
  const imported = parse(code)
    .body.filter(({ type }) => type === 'ImportDeclaration')
    .map(({ source }) => source?.value)
  const before = imported.slice(0, Math.max(imported.indexOf(own), 0))
  return before.some((one) => one !== 'vitest') ? `import '${own}';${code}` : undefined
}
