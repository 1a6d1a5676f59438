import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { readTape } from '../../src/tape/index.ts'

test('the agent’s reads of the clock are recorded whatever way they go; undici has a clock of its own', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'harvest-clock-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const child = fileURLToPath(new URL('./clock.child.ts', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, [child, dir])
  const found = JSON.parse(stdout) as { readonly tape: string; readonly isOne: boolean[]; readonly stored: string[] }
  expect(found.isOne).toEqual([true, true, true])
  // undici asked for its clock at the first fetch; what stands there since is what stood there at first.
  const [before, after] = ['get set enumerable configurable', 'value writable enumerable configurable']
  expect(found.stored).toEqual([`${before}, ${before}`, `${after}, ${after}`])
  const draws = readTape(found.tape).events.flatMap((event) => (event.kind === 'draws' ? event.draws : []))
  expect(draws.map(([kind, caller]) => `${kind} of ${caller}`)).toEqual([
    ...Array(12).fill('perf of app'),
    ...Array(2).fill('now of app'),
  ])
})
