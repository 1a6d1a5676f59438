import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Bench } from '../kit/contract.ts'
import { figure, inTurn, ratios } from '../kit/measure.ts'
import { type CallEvent, currentFlags, formatVersion, serializeTape } from '../../src/tape/index.ts'

const main = resolve('dist/cli/main.js')

const bench: Bench = {
  question: 'How long does a pre-commit hook wait?',
  async run({ isQuick, scratch, progress }) {
    const rows: string[][] = []
    for (const steps of [20, 400]) {
      progress(`tapes of ${steps} steps`)
      const cwd = join(scratch, String(steps))
      const bytes = stage(cwd, steps)
      const figures = await inTurn(
        {
          node: async () => run(process.execPath, ['-e', '0'], cwd),
          git: async () => run('git', ['status', '--porcelain'], cwd),
          help: async () => run(process.execPath, [main, '--help'], cwd),
          check: async () => run(process.execPath, [main, 'check', '--staged'], cwd),
        },
        isQuick ? 3 : 9,
      )
      rows.push([
        `50 files, tapes of ${steps} steps`,
        `${(bytes / 1024).toFixed(0)} KB`,
        ...['node', 'git', 'help'].map((to) => figure(ratios(figures, 'check', to), 1)),
      ])
    }
    const columns = ['staged', 'tapes', '÷ node -e 0', '÷ git status', '÷ harvest --help']
    return { tables: [{ title: '`harvest check --staged`', columns, rows }], bars: [] }
  },
}
export default bench

function stage(cwd: string, steps: number): number {
  const golden = join(cwd, 'recordings/golden')
  mkdirSync(golden, { recursive: true })
  let bytes = 0
  for (let i = 0; i < 25; i++) {
    const tape = tapeText(`run-${i}`, steps)
    bytes += tape.length
    writeFileSync(join(golden, `case-${i}.tape.jsonl`), tape)
    writeFileSync(
      join(golden, `case-${i}.case.yaml`),
      `case: case-${i}\nagent: refund\ntape: case-${i}.tape.jsonl\nexpect: pass\ntitle: Refunds once\nbaseline:\n${'  - lookup_order(order_id)\n'.repeat(steps)}`,
    )
  }
  execFileSync('git', ['init', '-q'], { cwd })
  execFileSync('git', ['add', '-A'], { cwd })
  return bytes
}

function tapeText(id: string, steps: number): string {
  const events = Array.from({ length: steps }, (_, at): CallEvent => {
    const n = at * 2 + 1
    const text = `Order ${at} of 2026 was shipped to Berlin and arrived broken; please refund what it cost.`
    return {
      kind: 'tool',
      n,
      at: n,
      name: 'lookup_order',
      args: { order_id: `A-${at}` },
      settled: [n + 1, n + 1],
      result: { text, amount: at },
    }
  })
  const header = {
    harvest: formatVersion,
    id,
    agent: 'refund',
    startedAt: '2026-03-04T05:06:07.089Z',
    recorder: 'vitest-harvest/0.1.0',
    flags: currentFlags,
    pins: { node: '24.21.0' },
  }
  return serializeTape(header, events, {
    n: steps * 2 + 2,
    at: steps * 2 + 2,
    outcome: { status: 'returned', value: 'ok' },
  })
}

function run(program: string, args: readonly string[], cwd: string): number {
  const begin = performance.now()
  const { status, stderr } = spawnSync(program, args, { cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${stderr}`)
  return performance.now() - begin
}
