import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { parseAst } from 'vitest/node'

/** A node of the syntax tree of a file, as far as it is read here. */
export interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [key: string]: unknown
}

/** Something declared at the top of a file, by name. */
interface Declared {
  readonly file: string
  readonly name: string
}

interface Module {
  readonly code: string
  readonly declared: ReadonlyMap<string, Node>
  /** What has a name here and is declared elsewhere; `*`: all of a file. */
  readonly elsewhere: ReadonlyMap<string, Declared>
  /** Files whose exports are exported as they are. */
  readonly whole: readonly string[]
  readonly loose: readonly Node[]
}

/** A node and all below it. */
export function every(node: Node, into: Node[] = []): readonly Node[] {
  into.push(node)
  for (const key in node) {
    const value = node[key]
    if (typeof value !== 'object' || value === null) continue
    for (const one of Array.isArray(value) ? (value as unknown[]) : [value])
      if (typeof (one as Node | null)?.type === 'string') every(one as Node, into)
  }
  return into
}

const named = (node: unknown): string => (node as { readonly name?: string } | undefined)?.name ?? 'default'

/**
 * Which declarations of src/ a command can reach, by name: what it calls, what that calls, and the tasks that it starts in
 * another process. More may be found than can run, never less: a method is reached with its class.
 */
export class Reached {
  readonly #modules = new Map<string, Module>()
  readonly #next = new Map<string, readonly Declared[]>()
  readonly #tasks: ReadonlyMap<string, Declared>
  readonly commands: ReadonlyMap<string, Declared>

  constructor() {
    const loaders = (file: string, pattern: RegExp): ReadonlyMap<string, Declared> =>
      new Map(
        [...readFileSync(file, 'utf8').matchAll(pattern)].map(([, key = '', path = '', name = '']) => [
          key,
          { file: relative('.', join(dirname(file), path)), name },
        ]),
      )
    const loader = /^  '?([a-z ]+)'?: async \(\) => \(await import\('(.*?)'\)\)\.(\w+)/gm
    this.#tasks = loaders('src/vitest/tasks.ts', loader)
    this.commands = loaders('src/cli/commands/index.ts', loader)
  }

  /** The parts of the code that a command can run. */
  from(start: Declared): readonly { readonly file: string; readonly code: string; readonly node: Node }[] {
    const seen = new Map<string, { readonly file: string; readonly code: string; readonly node: Node }>()
    const open = [start]
    for (let one = open.pop(); one !== undefined; one = open.pop()) {
      const key = `${one.file}#${one.name}`
      if (seen.has(key)) continue
      const { code, declared } = this.#module(one.file)
      const node = declared.get(one.name)
      if (node !== undefined) seen.set(key, { file: one.file, code, node })
      open.push(...this.#after(one))
    }
    return [...seen.values()]
  }

  #after(one: Declared): readonly Declared[] {
    const key = `${one.file}#${one.name}`
    const before = this.#next.get(key)
    if (before !== undefined) return before
    // Whatever leads back to it finds nothing more.
    this.#next.set(key, [])
    const found = this.#used(one)
    this.#next.set(key, found)
    return found
  }

  #used({ file, name }: Declared): readonly Declared[] {
    const { code, declared, elsewhere, whole, loose } = this.#module(file)
    const all = (one: string): readonly Declared[] => {
      const of = this.#module(one)
      return [...of.declared.keys(), ...of.elsewhere.keys()].map((key) => ({ file: one, name: key }))
    }
    if (name === '*') return all(file)
    const node = declared.get(name)
    if (node === undefined) {
      const other = elsewhere.get(name)
      return other === undefined ? whole.map((one) => ({ file: one, name })) : [other]
    }
    return [node, ...loose]
      .flatMap((one) => every(one))
      .flatMap((part): readonly Declared[] => {
        if (part.type === 'Identifier') {
          const used = named(part)
          return declared.has(used) || elsewhere.has(used) ? [{ file, name: used }] : []
        }
        const value = (part['value'] ?? part['source']) as Node | undefined
        const text = value?.['value']
        const isTask = part.type === 'Property' && named(part['key']) === 'name' && /^src\/cli\/(?!spec\/)/.test(file)
        const task = isTask && typeof text === 'string' ? this.#tasks.get(text) : undefined
        if (task !== undefined) return [task]
        const target = part.type === 'ImportExpression' && typeof text === 'string' ? pathOf(file, text) : undefined
        if (target === undefined || /commands\/index|vitest\/tasks/.test(file)) return []
        const [, member] = /^\)\.(\w+)/.exec(code.slice(part.end)) ?? []
        const [, members] = /\{([^{}]*)\}\s*=\s*await\s*$/.exec(code.slice(0, part.start)) ?? []
        const names = member === undefined ? (members ?? '*').split(',') : [member]
        return names.map((one) => ({ file: target, name: one.trim().split(':')[0] ?? '' }))
      })
  }

  #module(file: string): Module {
    const known = this.#modules.get(file)
    if (known !== undefined) return known
    const code = readFileSync(file, 'utf8')
    const declared = new Map<string, Node>()
    const elsewhere = new Map<string, Declared>()
    const whole: string[] = []
    const loose: Node[] = []
    const program = parseAst(code, { lang: file.endsWith('x') ? 'tsx' : 'ts' }) as unknown as { body: readonly Node[] }
    for (const statement of program.body) {
      const source = (statement['source'] as Node | undefined)?.['value'] as string | undefined
      const from = source === undefined ? undefined : pathOf(file, source)
      const specifiers = (statement['specifiers'] ?? []) as readonly Node[]
      const isType = [statement['importKind'], statement['exportKind']].includes('type')
      if (isType) continue
      if (source !== undefined) {
        if (from === undefined) continue
        if (statement.type === 'ExportAllDeclaration') whole.push(from)
        for (const one of specifiers) {
          if (one['importKind'] === 'type') continue
          const [here, there] = [one['exported'] ?? one['local'], one['imported'] ?? one['local']]
          const isAll = one.type === 'ImportNamespaceSpecifier'
          const isDefault = one.type === 'ImportDefaultSpecifier'
          elsewhere.set(named(here), { file: from, name: isAll ? '*' : isDefault ? 'default' : named(there) })
        }
        continue
      }
      const node = (statement['declaration'] as Node | null | undefined) ?? statement
      if (node.type.startsWith('TS') || (statement.type === 'ExportNamedDeclaration' && node === statement)) continue
      const names =
        node.type === 'VariableDeclaration'
          ? (node['declarations'] as readonly Node[])
              .flatMap(({ id }) => every(id as Node))
              .filter(({ type }) => type === 'Identifier')
              .map(named)
          : node['id'] === undefined || node['id'] === null
            ? []
            : [named(node['id'])]
      if (names.length === 0) loose.push(node)
      for (const name of names) declared.set(name, node)
    }
    const read = { code, declared, elsewhere, whole, loose }
    this.#modules.set(file, read)
    return read
  }
}

function pathOf(file: string, source: string): string | undefined {
  const path = relative('.', join(dirname(file), source))
  return source.startsWith('.') && /\.tsx?$/.test(path) && existsSync(path) ? path : undefined
}
