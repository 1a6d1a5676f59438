/** Keys of a case file as its lines alone tell them. Absent: only reading the whole file tells, or nothing does. */
export interface PlainHead {
  readonly id?: string
  readonly agent?: string
  readonly tape?: string
}

/**
 * Reads three keys of a case without parsing YAML, which takes a hundred times as long. What is said is what the parser
 * would say of a valid case: a key stands once, at the start of a line, and its value is a plain word. Quotes, comments,
 * other spellings of a key and flow collections are left to the parser.
 */
export function plainHead(text: string): PlainHead {
  // A text that begins otherwise may be a flow collection: there a line may begin with anything.
  if (!/^(?:[^\S\n]*(?:#[^\n]*)?\n)*[a-z]+:/.test(text)) return {}
  const id = plainWord(text, 'case')
  const agent = plainWord(text, 'agent')
  const tape = plainWord(text, 'tape')
  return {
    ...(id !== undefined && { id }),
    ...(agent !== undefined && { agent }),
    ...(tape !== undefined && { tape }),
  }
}

function plainWord(text: string, key: string): string | undefined {
  const start = `\n${key}:`
  const at = text.startsWith(`${key}:`) ? -1 : text.indexOf(start)
  if (at === -1 && !text.startsWith(`${key}:`)) return undefined
  if (text.includes(start, at + 1)) return undefined
  const from = at + start.length
  const end = text.indexOf('\n', from)
  // An indented line goes on with the value.
  if (end >= 0 && /^\s*\n[ \t]+[^\s#]|^[ \t]+[^\s#]/.test(text.slice(end + 1))) return undefined
  return /^ +([A-Za-z0-9][\w.-]*) *\r?$/.exec(text.slice(from, end < 0 ? undefined : end))?.[1]
}
