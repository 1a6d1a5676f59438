import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import {
  cellsOfReport,
  engineReport,
  readReport,
  validateEngine,
  writeReport,
} from '../../src/validation/grid/index.ts'
import { warmHarvest as harvest } from './harvest.ts'

const folder = mkdtempSync(join(tmpdir(), 'harvest-validate-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('harvest validate', () => {
  it('prints a row per family and every promise, and exits with 0 when all are kept', {
    tags: 'thorough',
  }, async () => {
    const { code, stdout, stderr } = await harvest(['validate', '--level', 'engine', '--family', 'F5.single'], {
      cwd: folder,
    })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain('Engine level: models of an agent whose causes are known.')
    expect(stdout).toMatch(/F5\.single +exact +60 +1 +0\.940-1\.000/)
    expect(stdout).toContain('kept   exact tail, top-1 >= 0.99')
  })

  it('--json holds every cell with its counts', async () => {
    const { code, stdout } = await harvest(['validate', '--level', 'engine', '--family', 'F7.environment', '--json'], {
      cwd: folder,
    })
    const { engine, comparison } = JSON.parse(stdout) as { engine: { cells: unknown[] }; comparison: unknown }
    expect({ code, comparison }).toEqual({ code: 0, comparison: null })
    expect(engine.cells[0]).toMatchObject({ cell: { id: 'F7.environment n=20 exact' }, tally: { top1: [10, 10] } })
  })

  it('--check holds the figures against the committed report, and names the cell that left it', {
    tags: 'thorough',
  }, async () => {
    const file = join(folder, 'validation.json')
    const seed = 7
    const { code: missing, stderr } = await harvest(['validate', '--level', 'engine', '--check', '--report', file], {
      cwd: folder,
    })
    expect({ missing, stderr }).toMatchObject({
      missing: 2,
      stderr: expect.stringContaining('HARVEST_VALIDATE_REPORT'),
    })

    const line = ['validate', '--level', 'engine', '--check', '--report', file, '--family', 'F5.never']
    const measured = await measuredInProcess(seed)
    await writeReport(file, { engine: engineReport(measured) }, '2026-01-02')
    const same = await harvest(line, { cwd: folder })
    expect(same).toMatchObject({ code: 0, stdout: expect.stringContaining('80 of 80 tapes came out as it says') })

    // As if blame had been worse when the report was made.
    const worse = measured.cells.map(({ cell, tally }) => ({
      cell,
      tally: { ...tally, outcomes: tally.outcomes.replaceAll(/./g, 'w'), top1: [2, 200] as const },
    }))
    await writeReport(file, { engine: engineReport({ ...measured, cells: worse }) }, '2026-01-02')
    expect(cellsOfReport(await readReport(file))).toEqual(worse)
    const left = await harvest(line, { cwd: folder })
    expect(left).toMatchObject({ code: 1, stdout: expect.stringContaining('left F5.never n=20 exact: top1 is 1') })
  })

  it.each([
    ['both efforts', ['--quick', '--full'], '--quick and --full do not go together'],
    ['a whole report of one family', ['--full', '--family', 'F5'], '--full is about all families'],
    ['a family nobody knows', ['--family', 'F11'], "Unknown family 'F11'"],
    [
      'a seed that is none',
      ['--seed', '1e3'],
      "Invalid --seed: expected a whole number of at most ten digits, got '1e3'",
    ],
  ])('%s is refused', async (_, args, message) => {
    const { code, stdout, stderr } = await harvest(['validate', '--level', 'engine', ...args], { cwd: folder })
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(message)
  })
})

async function measuredInProcess(seed: number): ReturnType<typeof validateEngine> {
  return validateEngine({ effort: 'quick', seed, family: 'F5.never' })
}
