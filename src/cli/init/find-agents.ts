import { readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type Token, tokensOf } from './tokens.ts'

/** A function that looks like an agent. */
export interface FoundAgent {
  /** Key in the plugin's `agents`. */
  readonly name: string
  /** `./src/refund-agent.ts#refundAgent`. */
  readonly entry: string
  /** How it was recognised. */
  readonly why: string
}

/** Packages that talk to models, or that frameworks of agents are made of. */
const kits =
  /^(?:openai|@openai\/.+|@anthropic-ai\/.+|ai|@ai-sdk\/.+|@google\/gen.+|@langchain\/.+|langchain|@mastra\/.+|@modelcontextprotocol\/.+|@aws-sdk\/client-bedrock.*|cohere-ai|@mistralai\/.+|groq-sdk|ollama|vitest-harvest\/record)$/
const places = ['src', 'lib', 'app', 'agents', 'server']
const skipped = /^(?:node_modules|dist|build|out|coverage|recordings|test|tests|__tests__|e2e|\..*)$/
const fileCap = 2_000
const sizeCap = 256 * 1024

/**
 * Looks for agents in the sources of a project: exported async functions that take an input, in files that import a
 * model's SDK or the recorder's wrappers, or that are called agents and fetch. Reads text; runs nothing.
 */
export function findAgents(folder: string): readonly FoundAgent[] {
  const files = [...places.flatMap((place) => sources(folder, place)), ...topLevel(folder)].slice(0, fileCap)
  const found = files.flatMap((file) => agentsIn(file, readFileSync(join(folder, file), 'utf8')))
  const names = Map.groupBy(found, ({ name }) => name)
  // Two of one name: the file tells them apart.
  return found.map((one) =>
    names.get(one.name)!.length === 1 ? one : { ...one, name: `${stem(one.entry)}-${one.name}` },
  )
}

/** Exported names of a source file, as far as its text tells. */
export function exportsOf(source: string): readonly string[] {
  const tokens = tokensOf(source) ?? []
  const text = (at: number): string => tokens[at]?.text ?? ''
  return tokens.flatMap(({ kind, text: word }, at): readonly string[] => {
    if (kind !== 'word' || word !== 'export') return []
    if (text(at + 1) === 'default') return ['default']
    if (text(at + 1) === '{') {
      const end = tokens.findIndex((token, i) => i > at && token.text === '}')
      return tokens.slice(at + 2, end).flatMap((token, i, list) => {
        const next = list[i + 1]?.text
        return token.kind === 'word' && (next === undefined || next === ',') ? [token.text] : []
      })
    }
    const skip = ['async', 'function', 'const', 'let', 'class', '*']
    let name = at + 1
    while (skip.includes(text(name))) name++
    return [text(name)]
  })
}

function agentsIn(file: string, source: string): readonly FoundAgent[] {
  // Most files are recognised at a glance: taking them all apart would take seconds.
  if (!source.includes('export') || !source.includes('async')) return []
  const tokens = tokensOf(source)
  if (tokens === undefined) return []
  const kit = tokens.find(
    ({ kind, text }, at) => kind === 'string' && isImported(tokens, at) && kits.test(text.slice(1, -1)),
  )
  const fetches = tokens.some(
    ({ kind, text }, at) => kind === 'word' && text === 'fetch' && tokens[at + 1]?.text === '(',
  )
  return asyncExports(tokens).flatMap((name): readonly FoundAgent[] => {
    const isCalled = /agent/i.test(name === 'default' ? basename(file) : `${name} ${basename(file)}`)
    if (kit === undefined && !(isCalled && fetches)) return []
    const why = kit === undefined ? 'is called an agent and fetches' : `imports ${kit.text.slice(1, -1)}`
    return [
      {
        name: keyOf(name, file),
        entry: `./${file}#${name}`,
        why: `exported async function with an input; its file ${why}`,
      },
    ]
  })
}

function isImported(tokens: readonly Token[], at: number): boolean {
  const before = tokens[at - 1]?.text
  return (
    before === 'from' ||
    before === 'import' ||
    (before === '(' && /^(?:require|import)$/.test(tokens[at - 2]?.text ?? ''))
  )
}

/** `export async function f(x`, `export default async function (x`, `export const f = async (x`. */
function asyncExports(tokens: readonly Token[]): readonly string[] {
  const text = (at: number): string => tokens[at]?.text ?? ''
  return tokens.flatMap(({ kind, text: word }, at): readonly string[] => {
    if (kind !== 'word' || word !== 'export') return []
    const isDefault = text(at + 1) === 'default'
    let next = at + (isDefault ? 2 : 1)
    let name = isDefault ? 'default' : undefined
    if (text(next) === 'const') {
      name = text(next + 1)
      next = tokens.findIndex((token, i) => i > at && token.text === '=') + 1
    }
    if (text(next) !== 'async') return []
    next++
    if (text(next) === 'function') {
      next++
      if (text(next) !== '(') name ??= text(next)
      next = tokens.findIndex((token, i) => i >= next && token.text === '(')
    }
    if (name === undefined || text(next) !== '(' || text(next + 1) === ')') return []
    return [name]
  })
}

/** `refundAgent` → `refund`; in the place of a general name stands that of the file. */
function keyOf(name: string, file: string): string {
  const said = /^(?:default|agent|run|main|handle|handler)$/i.test(name) ? stem(file) : name
  const words = said.replace(/([a-z0-9])([A-Z])/g, '$1-$2').toLowerCase()
  const key = words
    .replace(/^(?:run|handle)-/, '')
    .replace(/[-.]?agent$/, '')
    .replace(/[^a-z0-9-]+/g, '-')
    .replace(/^-+|-+$/g, '')
  return key === '' ? 'agent' : key
}

function stem(file: string): string {
  return basename(file.split('#', 1)[0] ?? file).replace(/\.[cm]?[jt]sx?$/, '')
}

function sources(folder: string, below: string): readonly string[] {
  if (statSync(join(folder, below), { throwIfNoEntry: false })?.isDirectory() !== true) return []
  return readdirSync(join(folder, below), { withFileTypes: true })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = `${below}/${entry.name}`
      if (entry.isDirectory()) return skipped.test(entry.name) ? [] : sources(folder, path)
      return entry.isFile() && isSource(join(folder, path)) ? [path] : []
    })
}

function topLevel(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && isSource(join(folder, entry.name)))
    .map(({ name }) => name)
    .sort()
}

function isSource(path: string): boolean {
  const name = basename(path)
  // What goes into a config has a plain name.
  if (!/^[\p{L}\p{N}_@.$()[\] -]+$/u.test(name)) return false
  if (!/\.[cm]?[jt]sx?$/.test(name) || /\.(?:d|test|spec|config|stories)\.[cm]?[jt]sx?$/.test(name)) return false
  return statSync(path).size <= sizeCap
}
