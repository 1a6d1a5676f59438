import { globSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'

// Who may import whom. A room is a folder of src/; arrows only go down.
const mayImport: Readonly<Record<string, readonly string[]>> = {
  errors: [],
  logic: [],
  tape: ['errors'],
  seam: ['errors'],
  privacy: ['errors', 'tape'],
  record: ['errors', 'tape', 'privacy', 'seam', 'providers'],
  providers: ['errors', 'tape'],
  replay: ['errors', 'tape', 'seam', 'privacy', 'providers'],
  trace: ['errors', 'tape', 'providers'],
  provenance: ['errors', 'tape', 'providers'],
  cases: ['errors', 'tape', 'trace', 'logic', 'provenance'],
  store: ['errors', 'tape', 'privacy', 'providers', 'cases', 'trace', 'provenance'],
  importers: ['errors', 'tape', 'seam', 'providers', 'privacy'],
  exporters: ['errors', 'tape', 'providers', 'trace'],
  timeline: ['errors', 'tape', 'replay', 'trace', 'logic'],
  fork: ['errors', 'tape', 'seam', 'privacy', 'providers', 'replay', 'trace', 'provenance'],
  blame: ['errors', 'tape', 'providers', 'replay', 'trace', 'provenance', 'cases', 'fork'],
  faults: ['errors', 'tape', 'seam', 'record', 'providers', 'replay', 'trace', 'fork', 'blame'],
  report: ['errors', 'tape', 'store', 'cases', 'trace', 'logic', 'timeline', 'blame'],
}
const inner = Object.keys(mayImport)
const doors: Readonly<Record<string, readonly string[]>> = { index: inner, vitest: inner, cli: inner }
// src/version.ts is one constant; every room may name it.
const rooms: Readonly<Record<string, readonly string[]>> = { ...mayImport, ...doors, version: [] }

// Which packages a room may use; all others use Node alone.
const mayUse: Readonly<Record<string, readonly string[]>> = {
  seam: ['@mswjs/interceptors'],
  errors: ['diff'],
  cases: ['yaml', 'diff'],
  importers: ['yaml'],
  trace: ['diff'],
  provenance: ['simple-git'],
  faults: ['fast-check'],
  vitest: ['vitest'],
  cli: ['cac', 'diff'],
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
}

const files = globSync('src/**/*.ts').map((file) => relative('src', file))
const imports = files.flatMap(importsOf)
const inside = imports.filter((one): one is Import & { to: string } => one.to !== undefined)
const outside = imports.filter(({ specifier, to }) => to === undefined && !isBuiltin(specifier))

describe('the walls between the rooms', () => {
  it('there are imports to check', () => {
    expect(files.length).toBeGreaterThan(60)
    expect(inside.length).toBeGreaterThan(150)
    expect(outside.map(({ specifier }) => packageOf(specifier))).toEqual(
      expect.arrayContaining(['@mswjs/interceptors', 'cac', 'diff', 'simple-git', 'vitest', 'yaml']),
    )
  })

  it('every folder of src/ is a room of the table', () => {
    expect([...new Set(files.map(roomOf))].filter((room) => !(room in rooms))).toEqual([])
  })

  it('a room imports only what its row allows', () => {
    const trespasses = inside.filter(({ from, to }) => {
      const [here, there] = [roomOf(from), roomOf(to)]
      return here !== there && there !== 'version' && !rooms[here]?.includes(there)
    })
    expect(trespasses.map(({ from, to }) => `src/${from} imports src/${to}`)).toEqual([])
  })

  it('a package is used only in the room it belongs to', () => {
    const trespasses = outside.filter(({ from, specifier }) => !mayUse[roomOf(from)]?.includes(packageOf(specifier)))
    expect(trespasses.map(({ from, specifier }) => `src/${from} imports ${specifier}`)).toEqual([])
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

  it('the table itself has no cycle', () => {
    const arrows = Object.entries(mayImport).flatMap(([from, targets]) => targets.map((to) => ({ from, to })))
    expect(firstCycle(Map.groupBy(arrows, ({ from }) => from))).toBeUndefined()
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
