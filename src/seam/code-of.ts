import { createHash } from 'node:crypto'

// biome-ignore lint/suspicious/noExplicitAny: any function can be a tool
type AnyFunction = (...args: any[]) => unknown

/** What distinguishes a wrapped function: its own name, and digests of its source. */
export type FunctionCode = readonly [name: string, digests: string]

/** Of larger functions only the beginning is read. */
const mostText = 20_000
const mostKnown = 200

/** Knows functions by their source. Those that are made for each request have one source, which is read once. */
export class Codes {
  readonly #known = new Map<string, FunctionCode | undefined>()
  readonly #secretsIn: (text: string) => readonly { readonly index: number; readonly length: number }[]

  /** @param secretsIn - what in a source must leave no trace, in order */
  constructor(secretsIn: (text: string) => readonly { readonly index: number; readonly length: number }[]) {
    this.#secretsIn = secretsIn
  }

  /**
   * `['refundDry', '4f9kQ2mX.w7TzB1aL']`: digests of the constants in its source, and of all words. Neither comments nor spelling
   * count, for loaders write the same function in other ways. Where one replaced names that are imported, the words are
   * its own: `w7TzB1aL+`, `w7TzB1aL*`.
   *
   * @param own - another name than its own
   * @param text - another source than its own
   * @returns `undefined` where a coverage tool wrote into it
   */
  of(fn: AnyFunction, own = nameOf(fn), text = textOf(fn)): FunctionCode | undefined {
    const key = `${own} ${text}`
    if (!this.#known.has(key)) {
      if (this.#known.size === mostKnown) this.#known.clear()
      this.#known.set(key, read(own, this.#withoutSecrets(text)))
    }
    return this.#known.get(key)
  }

  #withoutSecrets(text: string): string {
    let rest = ''
    let from = 0
    for (const { index, length } of this.#secretsIn(text)) {
      rest += text.slice(from, Math.max(from, index))
      from = Math.max(from, index + length)
    }
    return rest + text.slice(from)
  }
}

export function nameOf(fn: AnyFunction): string {
  const name: unknown = fn.name
  return typeof name === 'string' ? name : ''
}

export function textOf(fn: AnyFunction): string {
  return Function.prototype.toString.call(fn).slice(0, mostText)
}

/** Whether two functions may be one that two loaders wrote. */
export function mayBeSame([, one]: FunctionCode, [, other]: FunctionCode): boolean {
  if (one === other) return true
  const [[constants, words = ''], [otherConstants, otherWords = '']] = [one.split('.'), other.split('.')]
  return constants === otherConstants && markOf(words) !== markOf(otherWords)
}

function markOf(words: string): string | undefined {
  return /[+*]$/.exec(words)?.[0]
}

const token = new RegExp(
  [
    String.raw`\/\/.*|\/\*[\s\S]*?\*\/`,
    String.raw`(?<string>"(?:\\[\s\S]|[^"\\\n])*"|'(?:\\[\s\S]|[^'\\\n])*')`,
    '(?<template>`(?:\\\\[\\s\\S]|[^`\\\\])*`)',
    String.raw`(?<regex>(?<=[=(,:;!&|?{}[+\-*%<>~^]\s*|\breturn\s+)\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])*\/[a-z]*)`,
    String.raw`(?<number>(?<![\p{L}\p{N}_$])\.?\d[\w.]*)`,
    String.raw`(?<word>[\p{L}_$][\p{L}\p{N}_$]*)`,
  ].join('|'),
  'gu',
)

/** Loaders change these, or write them where nothing stood. */
const unsteady: ReadonlySet<string> = new Set(['const', 'let', 'var', 'import', 'meta', 'default', 'use strict'])
const literals: ReadonlySet<string> = new Set(['true', 'false', 'null'])
/** What stands for a module in whose place a loader of ES modules, or a compiler to CommonJS, wrote its own. */
const byLoader = /\b__\w+__\s*[.)]/
const byCompiler = /\b(?:import_\w+|[a-z]\w*_\d+)\s*[.)]/i
const covered = /\bcov_\w+\(\)/

function read(name: string, text: string): FunctionCode | undefined {
  if (covered.test(text)) return undefined
  const constants = new Set([name])
  const words = new Set([name])
  // `(0, module.name)(…)` is how a loader calls what is imported.
  const plainer = text
    .replaceAll(/\(0,\s*(?=[\w$])/g, '(')
    .replaceAll(/\bstatic\s*\{\s*__name\(this,\s*"[^"]*"\);?\s*\}/g, '')
    .replaceAll(/\bvoid 0\b/g, 'undefined')
    .replaceAll(/!([01])(?![\w.])/g, (_, digit) => (digit === '0' ? ' true' : ' false'))
  for (const { groups = {} } of plainer.matchAll(token)) {
    const { string, template, regex, number, word } = groups
    if (string !== undefined) constants.add(plain(string.slice(1, -1)))
    if (regex !== undefined) constants.add(regex)
    if (number !== undefined) constants.add(String(Number(number.replaceAll('_', '').replace(/n$/, ''))))
    if (template !== undefined) for (const part of literalsOf(template.slice(1, -1))) constants.add(plain(part))
    for (const [one] of template === undefined ? [] : plain(template).matchAll(/[\p{L}_$][\p{L}\p{N}_$]*/gu))
      words.add(one)
    if (word !== undefined && literals.has(word)) constants.add(word)
    if (word !== undefined && !word.startsWith('__')) words.add(word)
  }
  // A loader that keeps names writes them as texts: `__name(fn, "fn")`.
  for (const one of words) if (one !== name && !literals.has(one)) constants.delete(one)
  for (const one of unsteady) {
    constants.delete(one)
    words.delete(one)
  }
  const digests = [digest(constants), digest([...constants, '', ...words])]
  return [name, digests.join('.') + (byLoader.test(text) ? '+' : byCompiler.test(text) ? '*' : '')]
}

/** What a template says itself. One inside of another ends it for this reader, and the rest begins with the end of that. */
function literalsOf(template: string): readonly string[] {
  return template.replace(/^[^{}]*\}/, '').split(/\$\{(?:[^{}]|\{[^{}]*\})*(?:\}|$)/)
}

/** A text without the ways in which its signs may be written. */
function plain(text: string): string {
  return text.replaceAll(
    /\\(?:u\{([\da-f]{1,5})\}|u([\da-f]{4})|x([\da-f]{2})|(n)|([^nrtbfvux0]))/gi,
    (_, long?: string, short?: string, byte?: string, line?: string, sign?: string) =>
      sign ?? (line === undefined ? String.fromCodePoint(Number.parseInt(long ?? short ?? byte ?? '0', 16)) : '\n'),
  )
}

function digest(parts: Iterable<string>): string {
  return createHash('sha256')
    .update(JSON.stringify([...parts].sort()))
    .digest('base64url')
    .slice(0, 8)
}
