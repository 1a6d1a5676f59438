import { createHash } from 'node:crypto'
import { isMap } from '../json/canonical.ts'
import type { ModelRequest } from '../providers/index.ts'
import type { Json } from '../tape/index.ts'
import { parse } from './difference.ts'

/** What a model of images or of speech is asked: no conversation, and often a form with files. */
interface Asked {
  readonly method: string
  readonly url: string
  readonly bodyText: string
}

/** Path of the endpoint → the field with what is asked in words; absent where a file alone is what is asked. */
const endpoints: readonly (readonly [path: RegExp, prompt?: string])[] = [
  [/\/images\/(?:generations|edits)\/?$/, 'prompt'],
  [/\/images\/variations\/?$/],
  [/\/audio\/speech\/?$/, 'input'],
  [/\/audio\/(?:transcriptions|translations)\/?$/],
]

/**
 * A request to a model of images or of speech, taken apart: its prompt and its files are what it says, every other field is a
 * setting. Of a file its digest is kept.
 *
 * @returns `undefined` for any other request, and for one that does not name what these models need
 */
export function mediaRequest({ method, url, bodyText }: Asked): ModelRequest | undefined {
  if (method.toUpperCase() !== 'POST' || !URL.canParse(url)) return undefined
  const { pathname } = new URL(url)
  const [path, prompt] = endpoints.find(([one]) => one.test(pathname)) ?? []
  if (path === undefined) return undefined
  const body = parse(bodyText)
  const form = isMap(body) ? { fields: body, files: [], heads: [] } : readForm(bytesOf(bodyText))
  if (form === undefined) return undefined
  const { [prompt ?? '']: words, model, ...params } = form.fields
  if (prompt === undefined ? form.files.length === 0 : typeof words !== 'string') return undefined
  const said: readonly Json[] = words === undefined ? [] : [{ type: 'prompt', text: words }]
  return {
    // As those are: one prompt, and no turns.
    dialect: 'openai-completions',
    model: typeof model === 'string' ? model : '',
    instructions: [],
    messages: [...said, ...form.files],
    tools: [],
    params: typeof model === 'string' || model === undefined ? params : { ...params, model },
  }
}

interface Form {
  readonly fields: { readonly [name: string]: Json }
  readonly files: readonly Json[]
  readonly heads: readonly Head[]
}

/** A part of a form. What a file is called and what kind it is stands among the parts of the question. */
interface Head {
  readonly name: string
  readonly head?: string
}

/**
 * What {@link mediaRequest} does not take from a form: the order of its parts, and the heads of those that are no files.
 * Parts that the other form does not have are left out.
 *
 * @returns `undefined` for a body that is no form
 */
export function formsBeside(one: string, other: string): readonly [one: Json, other: Json] | undefined {
  const [before, now] = [readForm(bytesOf(one)), readForm(bytesOf(other))]
  if (before === undefined || now === undefined) return undefined
  const names = [before, now].map(({ heads }) => new Set(heads.map(({ name }) => name)))
  const isInBoth = ({ name }: Head): boolean => names.every((all) => all.has(name))
  const shown = ({ heads }: Form): Json => heads.filter(isInBoth).map(({ name, head }) => head ?? name)
  return [shown(before), shown(now)]
}

/** Undoes `bodyTextOf`. */
function bytesOf(bodyText: string): Buffer {
  return bodyText.startsWith(binary) ? Buffer.from(bodyText.slice(binary.length), 'base64') : Buffer.from(bodyText)
}

const binary = '\ud800base64:'

/** The parts of a multipart form by their names; `undefined` for any other body, and for a form without its end. */
function readForm(bytes: Buffer): Form | undefined {
  const text = bytes.toString('latin1')
  const [, boundary] = /^--([^\r\n]{1,200})\r\n/.exec(text) ?? []
  if (boundary === undefined) return undefined
  const pieces = `\r\n${text}`.split(`\r\n--${boundary}`)
  if (!/^--\s*$/.test(pieces.at(-1) ?? '')) return undefined
  const fields = new Map<string, Json[]>()
  const files: Json[] = []
  const heads: Head[] = []
  for (const piece of pieces.slice(1, -1)) {
    const [, head, content] = /^\r\n(.*?)\r\n\r\n(.*)$/s.exec(piece) ?? []
    const name = head && valueIn(head, 'name')
    if (head === undefined || content === undefined || name === undefined) return undefined
    const value = Buffer.from(content, 'latin1')
    const filename = valueIn(head, 'filename')
    heads.push(filename === undefined ? { name, head } : { name })
    if (filename === undefined) fields.set(name, [...(fields.get(name) ?? []), settingOf(name, value.toString('utf8'))])
    else files.push({ type: 'file', name, filename, kind: kindIn(head), bytes: value.length, sha256: digestOf(value) })
  }
  const one = (values: readonly Json[]): Json => (values.length === 1 ? values[0]! : values)
  return { fields: Object.fromEntries([...fields].map(([name, values]) => [name, one(values)])), files, heads }
}

/** A form has texts alone; whether it asks for a stream is looked at. */
function settingOf(name: string, text: string): Json {
  return name === 'stream' && /^(?:true|false)$/.test(text) ? text === 'true' : text
}

function valueIn(head: string, parameter: 'name' | 'filename'): string | undefined {
  const [, value] =
    new RegExp(`^content-disposition:[^\\r\\n]*;\\s*${parameter}="([^"\\r\\n]*)"`, 'im').exec(head) ?? []
  return value === undefined ? undefined : Buffer.from(value, 'latin1').toString('utf8')
}

function kindIn(head: string): string {
  return /^content-type:\s*([^\r\n]*)/im.exec(head)?.[1] ?? ''
}

function digestOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('base64url')
}
