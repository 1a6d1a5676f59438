import { closing, type Token, tokensOf } from './tokens.ts'

/** What becomes of a config file. */
export type ConfigEdit =
  | { readonly kind: 'changed'; readonly text: string }
  | { readonly kind: 'already' }
  /** Why it is left alone: the end of a sentence that begins with the name of the file. */
  | { readonly kind: 'unclear'; readonly why: string }

/**
 * Puts the plugin into the text of a Vitest or Vite config: an import, and an element of `plugins`. Everything else
 * stays byte for byte.
 *
 * @param call - the plugin as it is written there: `harvest({ agents: { … } })`
 */
export function editConfig(source: string, call: string): ConfigEdit {
  const tokens = tokensOf(source)
  if (tokens === undefined) return unclear('has brackets or quotes that do not close')
  if (tokens.some(({ kind, text }) => kind === 'string' && text.slice(1, -1) === 'vitest-harvest/plugin'))
    return { kind: 'already' }
  const isTaken = tokens.some(({ kind, text }) => kind === 'word' && text === 'harvest')
  if (isTaken) return unclear('has a `harvest` of its own')
  const object = configObject(tokens)
  if (typeof object === 'string') return unclear(object)
  const plugin = insertPlugin(source, tokens, object, call)
  if (typeof plugin === 'string') return unclear(plugin)
  // From the end to the beginning, so that places stay what they are.
  const text = [plugin, insertImport(source, tokens)].reduce(
    (now, { at, text: piece }) => now.slice(0, at) + piece + now.slice(at),
    source,
  )
  return tokensOf(text) === undefined ? unclear('could not be changed safely') : { kind: 'changed', text }
}

interface Insertion {
  readonly at: number
  readonly text: string
}

function unclear(why: string): ConfigEdit {
  return { kind: 'unclear', why }
}

/** Index of the brace that begins the config, or why there is no such brace. */
function configObject(tokens: readonly Token[]): number | string {
  const calls = tokens.flatMap((token, at) => (isCall(tokens, at, 'defineConfig') ? [at] : []))
  const merge = tokens.findIndex((_, at) => isCall(tokens, at, 'mergeConfig'))
  if (merge !== -1) return mergedObject(tokens, merge)
  if (calls.length > 1) return 'calls defineConfig more than once'
  if (calls.length === 1) return objectOf(tokens, calls[0]! + 2, closing(tokens, calls[0]! + 1))
  const start = exported(tokens)
  return start === undefined ? 'exports no config that is written out in it' : objectOf(tokens, start, tokens.length)
}

/** The last argument of `mergeConfig`, where the project's own settings stand. */
function mergedObject(tokens: readonly Token[], merge: number): number | string {
  const end = closing(tokens, merge + 1)
  let start = merge + 2
  let next = start
  for (let at = start; at < end; at++) {
    if ('([{'.includes(tokens[at]!.text) && tokens[at]!.kind === 'mark') at = closing(tokens, at)
    else if (tokens[at]!.text === ',' && at + 1 < end) {
      start = next
      next = at + 1
    }
  }
  start = next
  if (isCall(tokens, start, 'defineConfig')) return objectOf(tokens, start + 2, closing(tokens, start + 1))
  return objectOf(tokens, start, end)
}

/** Where the value begins that is exported by default. */
function exported(tokens: readonly Token[]): number | undefined {
  const is = (at: number, ...texts: readonly string[]): boolean =>
    texts.every((text, i) => tokens[at + i]?.text === text)
  const modern = tokens.findIndex((_, at) => is(at, 'export', 'default'))
  const old = tokens.findIndex((_, at) => is(at, 'module', '.', 'exports', '='))
  if (modern === -1 && old === -1) return undefined
  const start = modern === -1 ? old + 4 : modern + 2
  const name = tokens[start]
  if (name?.kind !== 'word' || /^(?:async|function)$/.test(name.text) || tokens[start + 1]?.text === '=>') return start
  // `const config: UserConfig = { … }; export default config`
  const declared = tokens.findIndex((_, at) => is(at, 'const', name.text))
  if (declared === -1) return undefined
  const sign = tokens.findIndex(({ text }, at) => at > declared && text === '=')
  return sign === -1 ? undefined : sign + 1
}

/** The object a value is: written out, or answered by a function that is. */
function objectOf(tokens: readonly Token[], start: number, end: number): number | string {
  const first = tokens[start]?.text
  if (first === '{') return start
  if (first === '(') {
    const inner = closing(tokens, start)
    // `({ … })`; what else stands in brackets may be the arguments of a function.
    if (tokens[inner + 1]?.text !== '=>' && tokens[inner + 1]?.text !== ':') return objectOf(tokens, start + 1, inner)
  }
  const isFunction = first === 'async' || first === 'function' || first === '(' || tokens[start + 1]?.text === '=>'
  return isFunction ? answered(tokens, start, end) : 'takes its config from elsewhere'
}

function answered(tokens: readonly Token[], start: number, end: number): number | string {
  let body = -1
  for (let at = start; at < end && body === -1; at++) {
    const { kind, text } = tokens[at]!
    if (text === '=>') body = at + 1
    else if (kind === 'mark' && text === '{' && isFunctionBody(tokens, start)) body = at
    else if (kind === 'mark' && '([{'.includes(text)) at = closing(tokens, at)
  }
  if (body === -1) return 'takes its config from elsewhere'
  if (tokens[body]?.text !== '{') return objectOf(tokens, body, end)
  const returns: number[] = []
  for (let at = body + 1, last = closing(tokens, body); at < last; at++) {
    if (tokens[at]!.kind === 'word' && tokens[at]!.text === 'return') returns.push(at)
  }
  if (returns.length !== 1) return 'answers its config in more than one place'
  const value = returns[0]! + 1
  if (isCall(tokens, value, 'defineConfig')) return objectOf(tokens, value + 2, closing(tokens, value + 1))
  return objectOf(tokens, value, end)
}

function isFunctionBody(tokens: readonly Token[], start: number): boolean {
  return tokens[start]?.text === 'function' || tokens[start + 1]?.text === 'function'
}

function isCall(tokens: readonly Token[], at: number, name: string): boolean {
  return (
    tokens[at]?.kind === 'word' &&
    tokens[at]?.text === name &&
    tokens[at + 1]?.text === '(' &&
    tokens[at - 1]?.text !== 'function'
  )
}

/** A place in the list of plugins, or in front of everything else; or why there is no such place. */
function insertPlugin(source: string, tokens: readonly Token[], open: number, call: string): Insertion | string {
  const close = closing(tokens, open)
  let hasSpread = false
  for (let at = open + 1; at < close; at++) {
    const { kind, text } = tokens[at]!
    const isKey = [',', '{'].includes(tokens[at - 1]!.text)
    if (isKey && text === '...') hasSpread = true
    if (isKey && (text === 'plugins' || /^["']plugins["']$/.test(text))) {
      if (tokens[at + 1]?.text !== ':' || tokens[at + 2]?.text !== '[')
        return 'has plugins that are no list written out in it'
      return insertElement(source, tokens, at + 2, call)
    }
    if (kind === 'mark' && '([{'.includes(text)) at = closing(tokens, at)
  }
  if (hasSpread) return 'takes part of its config from elsewhere, maybe the plugins too'
  return insertElement(source, tokens, open, `plugins: [${call}]`)
}

/** As the first element, on a line of its own when the others are. */
function insertElement(source: string, tokens: readonly Token[], open: number, text: string): Insertion {
  const { end } = tokens[open]!
  const next = tokens[open + 1]!
  const isEmpty = next.start === tokens[closing(tokens, open)]!.start
  const lineStart = source.lastIndexOf('\n', next.start - 1) + 1
  const indent = source.slice(lineStart, next.start)
  const isOwnLine = lineStart > end - 1 && /^[ \t]*$/.test(indent)
  const isObject = tokens[open]!.text === '{'
  const lineEnd = source.slice(0, next.start).endsWith('\r\n' + indent) ? '\r\n' : '\n'
  if (isEmpty) return { at: end, text: isObject ? ` ${text} ` : text }
  if (isOwnLine) {
    // Comments between the bracket and its first element stay with that.
    const feed = source.indexOf('\n', end) + 1
    const isClear = /^\s*(?:\/\/.*)?$/.test(source.slice(end, feed))
    return { at: isClear ? feed : lineStart, text: `${indent}${text},${lineEnd}` }
  }
  return { at: end, text: isObject ? ` ${text},` : `${text}, ` }
}

/** Behind the last import, in the handwriting of the file. */
function insertImport(source: string, tokens: readonly Token[]): Insertion {
  const strings = tokens.filter(({ kind }) => kind === 'string')
  const quote = strings.filter(({ text }) => text.startsWith('"')).length > strings.length / 2 ? '"' : "'"
  const imports = tokens.flatMap(({ kind, text }, at) =>
    kind === 'word' && text === 'import' && !['(', '.'].includes(tokens[at + 1]?.text ?? '') ? [at] : [],
  )
  const isOld =
    imports.length === 0 && tokens.some(({ text }, at) => text === 'module' && tokens[at + 2]?.text === 'exports')
  const ends = [...(isOld ? requires(tokens) : imports)].map((at) => {
    const from = tokens.findIndex(({ kind }, i) => i > at && kind === 'string')
    return isOld ? from + 1 : from
  })
  const last = ends.at(-1)
  const mark = /;\s*$/m.test(source) ? ';' : ''
  const name = `${quote}vitest-harvest/plugin${quote}`
  const line = isOld ? `const { harvest } = require(${name})${mark}` : `import { harvest } from ${name}${mark}`
  const lineEnd = source.includes('\r\n') ? '\r\n' : '\n'
  if (last === undefined) {
    const at = source.startsWith('#!') ? source.indexOf('\n') + 1 : source.startsWith('\ufeff') ? 1 : 0
    return { at, text: `${line}${lineEnd}` }
  }
  // The rest of its line belongs to it: a semicolon, attributes, a comment.
  const lineFeed = source.indexOf('\n', tokens[last]!.end)
  if (lineFeed === -1) return { at: source.length, text: `${lineEnd}${line}` }
  return { at: lineFeed + 1, text: `${line}${lineEnd}` }
}

/** `const x = require('…')` at the top. */
function requires(tokens: readonly Token[]): readonly number[] {
  return tokens.flatMap(({ text }, at) =>
    text === 'require' && tokens[at + 1]?.text === '(' && tokens[at + 2]?.kind === 'string' ? [at] : [],
  )
}
