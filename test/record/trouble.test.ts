import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { readTape } from '../../src/tape/index.ts'

function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), 'harvest-trouble-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A disk of its own, where we may make one. */
function mounted(folder: string, options: string): string | undefined {
  mkdirSync(folder)
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder]).status !== 0) return undefined
  onTestFinished(() => void spawnSync('umount', [folder]))
  return folder
}

test('whatever the disk does, the service answers right, the numbers say what became of each run, and each cause is told once', {
  timeout: 300_000,
}, () => {
  const folder = scratch()
  // Who is not root meets a full disk and one that cannot be written to elsewhere: by `ulimit` no file grows past 64 KB.
  const [full, readOnly] = [mounted(join(folder, 'full'), 'size=64k'), mounted(join(folder, 'ro'), 'ro')]
  const args = [join(import.meta.dirname, 'trouble.child.ts'), folder]
  const disks = full === undefined || readOnly === undefined ? [] : [full, readOnly]
  const { stdout, stderr, status } = spawnSync(
    'bash',
    [
      '-c',
      'ulimit -n 200; exec "$@"',
      'bash',
      process.execPath,
      '--disable-warning=ExperimentalWarning',
      ...args,
      ...disks,
    ],
    { encoding: 'utf8', env: { ...process.env, NODE_OPTIONS: '' } },
  )
  expect(status, stderr).toBe(0)
  const right = { answers: [40_001], runs: 4, dropped: 0, open: 0 }
  const lost = { ...right, kept: 0, unrecorded: 4, failures: 4 }
  expect(JSON.parse(stdout)).toEqual({
    fine: { ...right, kept: 4, unrecorded: 0, failures: 0 },
    removed: lost,
    replaced: lost,
    emptied: lost,
    'too many files': lost,
    ...(disks.length > 0 && {
      // One tape of 40 KB fits; of the others there may be room for a last line that says why they are not whole.
      full: { ...right, kept: lastLines(full!), unrecorded: 4 - lastLines(full!), failures: 3 },
      'read-only': lost,
    }),
  })
  const told = [...stderr.matchAll(/\((HARVEST_\w+)\)/g)].map(([, code]) => code)
  expect(new Set(told)).toEqual(new Set(['HARVEST_RECORDING_FAILED']))
  for (const cause of [
    'was removed during the recording',
    'was cut off during the recording',
    'ENOTDIR',
    'EMFILE',
    ...(disks.length > 0 ? ['ENOSPC', 'EROFS'] : []),
  ])
    expect(stderr.split(cause).length - 1, cause).toBeGreaterThan(0)
  // Each cause once when it happens, and once with its number at the end.
  const causes = disks.length > 0 ? 6 : 4
  expect(told).toHaveLength(2 * causes)
  expect(
    [...stderr.matchAll(/same failure happened (\d+) times/g)].map(([, times]) => Number(times)).toSorted(),
  ).toEqual([5, 4, 3, 4, 3, 4].slice(0, causes).toSorted())
})

function lastLines(folder: string): number {
  const tapes = readdirSync(folder).map((name) => readTape(join(folder, name)))
  expect(tapes.filter(({ close }) => close !== undefined && close.incomplete === undefined)).toHaveLength(1)
  return tapes.filter(({ close }) => close !== undefined).length
}
