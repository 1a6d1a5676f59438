/**
 * Names of the tapes a case had before: what it `replaces`, and those of its `history`. Looks at lines and parses no YAML:
 * thousands of cases may lie around the one that is asked about.
 */
export function formerTapesIn(text: string): readonly string[] {
  if (!/^(?:replaces|history):/m.test(text)) return []
  const names: string[] = []
  let key = ''
  for (const line of text.split(/\r?\n/)) {
    key = /^([a-z]+):/.exec(line)?.[1] ?? key
    const pattern = key === 'replaces' ? /^replaces:\s+(.+)$/ : /^[\s-]+tape:\s+(.+)$/
    const value = key === 'replaces' || key === 'history' ? pattern.exec(line)?.[1] : undefined
    const name = /^["']?([A-Za-z0-9][A-Za-z0-9._-]*\.tape\.jsonl)\b/.exec(value ?? '')?.[1]
    if (name !== undefined && !names.includes(name)) names.push(name)
  }
  return names
}
