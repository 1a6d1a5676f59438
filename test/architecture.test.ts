import { globSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { parseAst } from 'rolldown/parseAst'
import { describe, expect, it } from 'vitest'
import { entryPoints, rooms, tableOfRooms } from './rooms.ts'

const all = { ...rooms, ...entryPoints }

function textOf(file: string): string {
  return readFileSync(join('src', file), 'utf8')
}

interface Import {
  /** Path below src/. */
  readonly from: string
  /** As written. */
  readonly specifier: string
  /** Path below src/ when it is relative. */
  readonly to: string | undefined
  /** `import type` and `export type`: gone when the program runs. */
  readonly isType: boolean
  /** `import()` and the like: loaded when somebody needs it. */
  readonly isLate: boolean
}

const files = globSync('src/**/*.{ts,tsx}').map((file) => relative('src', file))
const imports = files.flatMap(importsOf)
const inside = imports.filter((one): one is Import & { to: string } => one.to !== undefined)
const outside = imports.filter(({ specifier, to }) => to === undefined && !isBuiltin(specifier))
/** Files beside the rooms: a constant, a generator and where the package lies; they know nothing. */
const shared = new Set(['version', 'prng', 'own-files'])

describe('the walls between the rooms', () => {
  it('the page of a report imports nothing of ours but its own files and the types of its data', () => {
    const page = inside.filter(({ from }) => from.startsWith('report/page/'))
    expect(page.length).toBeGreaterThan(20)
    const strangers = page.filter(
      ({ to, isType }) => !to.startsWith('report/page/') && !(isType && to === 'report/view/types.ts'),
    )
    expect(strangers.map(({ from, to }) => `src/${from} imports src/${to}`)).toEqual([])
  })

  it('no module says where it lies but own-files: once built, others lie where nobody knows', () => {
    const asks = (file: string): boolean => /^[^*/]*import\.meta\.(?:url|dirname|filename)/m.test(textOf(file))
    const asking = files.filter((file) => !file.startsWith('report/page/') && asks(file)).sort()
    // The first two look for their own frames on a stack; the others only load packages.
    expect(asking).toEqual([
      'doctor/probe/caller.ts',
      'own-files.ts',
      'rules/patterns.ts',
      'seam/intercept/on-top.ts',
      'vitest/run-vitest.ts',
    ])
  })

  it('there are imports to check', () => {
    expect(files.length).toBeGreaterThan(60)
    expect(inside.length).toBeGreaterThan(150)
    expect(outside.map(({ specifier }) => packageOf(specifier))).toEqual(
      expect.arrayContaining(['@mswjs/interceptors', 'diff', 'simple-git', 'vitest', 'yaml']),
    )
  })

  it('every folder of src/ is a room of the table', () => {
    expect([...new Set(files.map(roomOf))].filter((room) => !(room in all) && !shared.has(room))).toEqual([])
  })

  it('every room of the table is a folder of src/', () => {
    const folders = new Set(files.map(roomOf))
    expect(Object.keys(all).filter((room) => !folders.has(room))).toEqual([])
  })

  it('docs/architecture.md shows this table', () => {
    expect(readFileSync('docs/architecture.md', 'utf8')).toContain(`\n${tableOfRooms()}\n`)
  })

  it('a room imports only what its row allows', () => {
    const trespasses = inside.filter(({ from, to }) => {
      const [here, there] = [roomOf(from), roomOf(to)]
      return here !== there && !shared.has(there) && !all[here]?.mayImport.includes(there)
    })
    expect(trespasses.map(({ from, to }) => `src/${from} imports src/${to}`)).toEqual([])
  })

  it('a package is used only in the room it belongs to', () => {
    const trespasses = outside.filter(
      ({ from, specifier }) => !all[roomOf(from)]?.packages?.includes(packageOf(specifier)),
    )
    expect(trespasses.map(({ from, specifier }) => `src/${from} imports ${specifier}`)).toEqual([])
  })

  it('git is asked in one place, through simple-git', () => {
    const values = outside.filter(({ specifier, isType }) => packageOf(specifier) === 'simple-git' && !isType)
    expect(values.map(({ from }) => from)).toEqual(['provenance/git-client.ts'])
    const started = files.filter((file) =>
      /\b(?:spawn|exec|fork)\w*\(\s*['"`]git\b/.test(readFileSync(join('src', file), 'utf8')),
    )
    expect(started).toEqual([])
  })

  it('every import names a file that exists', () => {
    const known = new Set(files)
    expect(inside.filter(({ to }) => !known.has(to)).map(({ from, specifier }) => `src/${from}: ${specifier}`)).toEqual(
      [],
    )
  })

  it('no chain of imports comes back to the file it started from', () => {
    const values = inside.filter(({ isType }) => !isType)
    expect(firstCycle(Map.groupBy(values, ({ from }) => from))).toBeUndefined()
  })

  it('a file of more than 300 lines says why at its top', () => {
    const long = files.filter((file) => {
      const source = readFileSync(join('src', file), 'utf8')
      return source.split('\n').length > 301 && !/^\/\/ Over 300 lines: \w/.test(source)
    })
    expect(long).toEqual([])
  })

  // V8 makes such a function among old objects: all it can see outlives each collection of young ones.
  it('what runs for each call puts no function that it makes there into a property', () => {
    const calls = files.filter((file) => /^(?:fork|live|match|playback|privacy|record|replay|seam|tape)\//.test(file))
    expect(calls.length).toBeGreaterThan(200)
    expect(calls.flatMap((file) => madeIntoProperties(textOf(file)).map((code) => `src/${file}: ${code}`))).toEqual([])
    const named = 'const made = () => {}; a.b = made; a = { b() {}, c: () => {} }'
    expect(madeIntoProperties(`a.b = () => {}; this.#c = function () {} as D; ${named}`)).toEqual([
      'a.b = () => {}',
      'this.#c = function () {} as D',
    ])
  })

  it('the table itself has no cycle', () => {
    const arrows = Object.entries(rooms).flatMap(([from, { mayImport }]) => mayImport.map((to) => ({ from, to })))
    expect(firstCycle(Map.groupBy(arrows, ({ from }) => from))).toBeUndefined()
  })

  it('the plugin of the config process loads neither what redacts nor what reads tapes', () => {
    const values = Map.groupBy(
      inside.filter(({ isType, isLate }) => !isType && !isLate),
      ({ from }) => from,
    )
    const loaded = new Set(['vitest/plugin.ts'])
    for (const from of loaded) for (const { to } of values.get(from) ?? []) loaded.add(to)
    expect(loaded).toContain('vitest/reporter.ts')
    expect([...loaded].filter((file) => /^(?:privacy|tape)\//.test(file)).sort()).toEqual([
      'privacy/credentials.ts',
      'tape/kept-files.ts',
      'tape/links.ts',
      'tape/new-file.ts',
      'tape/shared-read.ts',
    ])
  })

  it('the plugin of the config process and the runtime of the worker never import each other', () => {
    const reach = (start: string, seen = new Set<string>()): Set<string> => {
      for (const { to } of inside.filter(({ from }) => from === start)) if (!seen.has(to)) reach(to, seen.add(to))
      return seen
    }
    expect(reach('vitest/plugin.ts')).not.toContain('vitest/index.ts')
    expect(reach('vitest/index.ts')).not.toContain('vitest/plugin.ts')
  })
})

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [key: string]: unknown
}

/** Assignments of a function, written where it is assigned, to a property. */
function madeIntoProperties(code: string): readonly string[] {
  const made: string[] = []
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) return value.forEach(visit)
    if (typeof value !== 'object' || value === null) return
    const node = value as Node
    if (node.type === 'AssignmentExpression' && (node['left'] as Node).type === 'MemberExpression') {
      let right = node['right'] as Node
      while ('expression' in right && typeof right['expression'] === 'object') right = right['expression'] as Node
      if (/^(?:Arrow)?FunctionExpression$/.test(right.type)) made.push(code.slice(node.start, node.end))
    }
    Object.values(node).forEach(visit)
  }
  visit(parseAst(code, { lang: 'ts' }))
  return made
}

/** Imports and re-exports of values and types, dynamic imports, `require` and `import.meta.resolve`. */
function importsOf(from: string): Import[] {
  const source = readFileSync(join('src', from), 'utf8').replace(/^\s*(?:\/\/|\/?\*).*$/gm, '')
  const patterns = [
    /^(?:import|export)\s[^'"`;]*?\bfrom\s*['"]([^'"]+)['"]/gm,
    /^import\s*['"]([^'"]+)['"]/gm,
    /\b(?:import|require|import\.meta\.resolve)\(\s*['"]([^'"]+)['"]/g,
  ]
  return patterns
    .flatMap((pattern) => [...source.matchAll(pattern)])
    .map(([statement, specifier = '']) => ({
      from,
      isType: /^(?:import|export)\s+type\b/.test(statement),
      isLate: /^(?:import|require|import\.meta\.resolve)\(/.test(statement),
      specifier,
      to: specifier.startsWith('.') ? join(dirname(from), specifier).replace(/\.js$/, '.ts') : undefined,
    }))
}

function roomOf(file: string): string {
  return file.includes('/') ? file.slice(0, file.indexOf('/')) : file.replace(/\.ts$/, '')
}

function packageOf(specifier: string): string {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
}

function isBuiltin(specifier: string): boolean {
  return specifier.startsWith('node:') || builtinModules.includes(specifier)
}

function firstCycle(arrows: ReadonlyMap<string, readonly { readonly to: string }[]>): string | undefined {
  const done = new Set<string>()
  const walk = (node: string, path: readonly string[]): string | undefined => {
    if (path.includes(node)) return [...path.slice(path.indexOf(node)), node].join(' → ')
    if (done.has(node)) return undefined
    for (const { to } of arrows.get(node) ?? []) {
      const cycle = walk(to, [...path, node])
      if (cycle !== undefined) return cycle
    }
    done.add(node)
    return undefined
  }
  for (const node of arrows.keys()) {
    const cycle = walk(node, [])
    if (cycle !== undefined) return cycle
  }
  return undefined
}
