/** A piece of JavaScript or TypeScript that means something: comments and blanks are left out. */
export interface Token {
  readonly kind: 'word' | 'string' | 'template' | 'regex' | 'mark'
  readonly text: string
  readonly start: number
  readonly end: number
}

/**
 * Cuts source text into tokens, as far as is needed to find brackets, names and texts. Nothing is run and nothing is
 * parsed: what is built of them has to be refused where it is unclear.
 *
 * @returns `undefined` when brackets or texts do not close
 */
export function tokensOf(source: string): readonly Token[] | undefined {
  const tokens: Token[] = []
  const open: string[] = []
  for (let at = 0; at < source.length; ) {
    const end = endOfBlank(source, at)
    if (end > at) {
      at = end
      continue
    }
    const token = tokenAt(source, at, tokens.at(-1))
    if (token === undefined) return undefined
    if (token.kind === 'mark') {
      if ('([{'.includes(token.text)) open.push(token.text)
      else if (')]}'.includes(token.text) && open.pop() !== pairs[token.text]) return undefined
    }
    tokens.push(token)
    at = token.end
  }
  return open.length === 0 ? tokens : undefined
}

/** Index of the token that closes the bracket at `open`. */
export function closing(tokens: readonly Token[], open: number): number {
  let depth = 0
  for (let at = open; at < tokens.length; at++) {
    const { kind, text } = tokens[at]!
    if (kind !== 'mark') continue
    if ('([{'.includes(text)) depth++
    else if (')]}'.includes(text) && --depth === 0) return at
  }
  throw new RangeError(`the bracket at token ${open} is not closed`)
}

const pairs: Readonly<Record<string, string>> = { ')': '(', ']': '[', '}': '{' }

function endOfBlank(source: string, at: number): number {
  if (source.startsWith('//', at) || (at === 0 && source.startsWith('#!'))) {
    const lineEnd = source.indexOf('\n', at)
    return lineEnd === -1 ? source.length : lineEnd
  }
  if (source.startsWith('/*', at)) {
    const end = source.indexOf('*/', at + 2)
    return end === -1 ? source.length : end + 2
  }
  return /[\s\ufeff]/.test(source[at]!) ? at + 1 : at
}

function tokenAt(source: string, start: number, before: Token | undefined): Token | undefined {
  const make = (kind: Token['kind'], end: number | undefined): Token | undefined =>
    end === undefined ? undefined : { kind, text: source.slice(start, end), start, end }
  const first = source[start]!
  if (first === '"' || first === "'") return make('string', endOfString(source, start))
  if (first === '`') return make('template', endOfTemplate(source, start))
  if (first === '/' && mayBeginRegex(before)) return make('regex', endOfRegex(source, start))
  wordPattern.lastIndex = start
  const word = wordPattern.exec(source)
  if (word !== null) return make('word', start + word[0].length)
  return make('mark', start + (source.startsWith('...', start) ? 3 : source.startsWith('=>', start) ? 2 : 1))
}

const wordPattern = /[\p{ID_Start}$_#@\d][\p{ID_Continue}$\u200c\u200d]*/uy

function endOfString(source: string, start: number): number | undefined {
  const quote = source[start]
  for (let at = start + 1; at < source.length && source[at] !== '\n'; at++) {
    if (source[at] === '\\') at++
    else if (source[at] === quote) return at + 1
  }
  return undefined
}

function endOfTemplate(source: string, start: number): number | undefined {
  for (let at = start + 1; at < source.length; at++) {
    if (source[at] === '\\') at++
    else if (source[at] === '`') return at + 1
    else if (source.startsWith('${', at)) {
      const end = endOfHole(source, at + 2)
      if (end === undefined) return undefined
      at = end
    }
  }
  return undefined
}

/** Where the brace is that closes `${`. */
function endOfHole(source: string, start: number): number | undefined {
  let depth = 0
  let before: Token | undefined
  for (let at = start; at < source.length; ) {
    const end = endOfBlank(source, at)
    if (end > at) {
      at = end
      continue
    }
    const token = tokenAt(source, at, before)
    if (token === undefined) return undefined
    if (token.text === '{') depth++
    if (token.text === '}' && depth-- === 0) return at
    before = token
    at = token.end
  }
  return undefined
}

function endOfRegex(source: string, start: number): number | undefined {
  let isClass = false
  for (let at = start + 1; at < source.length && source[at] !== '\n'; at++) {
    if (source[at] === '\\') at++
    else if (source[at] === '[') isClass = true
    else if (source[at] === ']') isClass = false
    else if (source[at] === '/' && !isClass) {
      let end = at + 1
      while (/[a-z]/.test(source[end] ?? '')) end++
      return end
    }
  }
  return undefined
}

/** A slash divides what stands before it, unless nothing stands there that could be divided. */
function mayBeginRegex(before: Token | undefined): boolean {
  if (before === undefined) return true
  if (before.kind === 'mark') return ![')', ']', '}'].includes(before.text)
  return (
    before.kind === 'word' &&
    /^(?:return|typeof|case|in|of|delete|void|throw|new|do|else|await|yield)$/.test(before.text)
  )
}
