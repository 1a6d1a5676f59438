/*
 * How long a pre-commit hook waits: `harvest check --staged` over 25 cases and their tapes (50 files), beside Node's own
 * start and beside `git status` of the same repository. Ratios are what counts; run it on a quiet machine:
 *
 *   npm run build && node bench/check/staged.ts
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { type CallEvent, currentFlags, formatVersion, serializeTape } from '../../src/tape/index.ts'

const main = resolve('dist/cli/main.js')
const folder = mkdtempSync(join(tmpdir(), 'harvest-bench-'))
try {
  for (const [steps, label] of [
    [20, 'tapes of 20 steps'],
    [400, 'tapes of 400 steps'],
  ] as const) {
    const bytes = stage(join(folder, label), steps)
    const cwd = join(folder, label)
    const node = median(() => run(process.execPath, ['-e', '0'], cwd))
    const git = median(() => run('git', ['status', '--porcelain'], cwd))
    const check = median(() => run(process.execPath, [main, 'check', '--staged'], cwd))
    const others = median(() => run(process.execPath, [main, '--help'], cwd))
    console.log(
      `50 files, ${label}, ${(bytes / 1024).toFixed(0)} KB: check ${ms(check)} = ${(check / node).toFixed(1)} × node (${ms(node)}), ` +
        `${(check / git).toFixed(0)} × git status (${ms(git)}); of it, loading the command ${ms(others - node)}, the check itself ${ms(check - others)}`,
    )
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}

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

function run(program: string, args: readonly string[], cwd: string): void {
  const { status, stderr } = spawnSync(program, args, { cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${stderr}`)
}

function median(work: () => void): number {
  const times = Array.from({ length: 9 }, () => {
    const start = performance.now()
    work()
    return performance.now() - start
  })
  return times.sort((a, b) => a - b)[4] ?? 0
}

function ms(value: number): string {
  return `${value.toFixed(0)} ms`
}
