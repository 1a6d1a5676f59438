import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { installPackage } from '../../scripts/project.ts'
import type { Bench, Table } from '../kit/contract.ts'
import { figure, inTurn, median, ratios } from '../kit/measure.ts'

/** What a service that calls models loads anyway, and what it may load to watch them. */
const peers = ['openai', '@anthropic-ai/sdk', '@opentelemetry/api', 'undici', 'ai']

const bench: Bench = {
  question: 'What does the recorder add to the start of a service?',
  async run({ isQuick, scratch, progress }) {
    await installPackage(scratch)
    const others = peers.filter((name) => link(scratch, name))
    const contestants = {
      nothing: '0',
      'vitest-harvest/record': `await import('vitest-harvest/record')`,
      'and a recorder made': `(await import('vitest-harvest/record')).createRecorder({ dir: 'inbox' })`,
      ...Object.fromEntries(others.map((name) => [name, `await import('${name}')`])),
    }
    const start = (source: string) => async () => {
      progress(source)
      return startOf(scratch, source)
    }
    const works = Object.fromEntries(Object.entries(contestants).map(([name, source]) => [name, start(source)]))
    const figures = await inTurn(works, isQuick ? 7 : 31)
    const bare = figures.get('nothing') ?? []
    // What a start costs more than one that loads nothing, round by round.
    const added = new Map([...figures].map(([name, all]) => [name, all.map((ms, at) => ms - (bare[at] ?? Number.NaN))]))
    const beside = ratios(
      new Map([...added].map(([name, all]) => [name, [median(all)]])),
      'and a recorder made',
      'openai',
    )
    const table: Table = {
      title: 'One start of Node that imports …',
      columns: ['', 'processor ÷ `node -e 0`', 'adds, ms', 'modules', 'KB of source', 'KB of heap'],
      rows: Object.entries(contestants).map(([name, source]) => {
        const { modules, bytes, heap } = load(scratch, source)
        return [
          name,
          figure(ratios(figures, name, 'nothing')),
          median(added.get(name) ?? []).toFixed(1),
          String(modules),
          (bytes / 1024).toFixed(0),
          (heap / 1024).toFixed(0),
        ]
      }),
    }
    return {
      tables: [table],
      bars: [
        {
          what: 'what importing and making a recorder adds ÷ what importing `openai` adds',
          value: beside[0] ?? Number.NaN,
          limit: { atMost: 1 },
        },
      ],
      remarks: [
        'Modules are files that are read: those of Node itself are in its snapshot and are not counted.',
        'A service that calls a model loads one of the other packages in any case; a recorder comes on top.',
      ],
    }
  },
}
export default bench

/** Whether the package is there to be compared with. */
function link(home: string, name: string): boolean {
  const installed = resolve('node_modules', name)
  if (!existsSync(installed)) return false
  const at = join(home, 'node_modules', name)
  mkdirSync(join(at, '..'), { recursive: true })
  symlinkSync(installed, at, 'junction')
  return true
}

/** One process: what it has used when the import is done. */
function startOf(cwd: string, source: string): number {
  const told = `const { user, system } = process.cpuUsage(); console.log((user + system) / 1000); process.exit()`
  return node(cwd, `${source}\n${told}`, []) as number
}

interface Load {
  readonly modules: number
  readonly bytes: number
  readonly heap: number
}

/** What it loads, counted in another process: to count has a cost. */
function load(cwd: string, source: string): Load {
  const before = `
    import { registerHooks } from 'node:module'
    import { statSync } from 'node:fs'
    import { fileURLToPath } from 'node:url'
    const files = new Set()
    registerHooks({ load: (url, context, next) => (url.startsWith('file:') && files.add(fileURLToPath(url)), next(url, context)) })
    gc()
    const begin = process.memoryUsage().heapUsed;`
  const after = `
    gc()
    const heap = Math.max(0, process.memoryUsage().heapUsed - begin)
    const bytes = [...files].reduce((sum, file) => sum + statSync(file).size, 0)
    console.log(JSON.stringify({ modules: files.size, bytes, heap }))
    process.exit()`
  return node(cwd, `${before}\n${source}\n${after}`, ['--expose-gc']) as Load
}

function node(cwd: string, source: string, args: readonly string[]): unknown {
  const all = [...args, '--input-type=module', '-e', source]
  const { NODE_OPTIONS: _options, ...env } = process.env
  return JSON.parse(execFileSync(process.execPath, all, { cwd, env, encoding: 'utf8' }))
}
