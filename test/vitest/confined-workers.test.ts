import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { jobsVariable } from '../../src/jobs/job.ts'
import { openCases, workerFlags } from '../../src/vitest/confined-workers.ts'
import { parseOptions } from '../../src/vitest/options.ts'
import { recordingsProjects } from '../../src/vitest/project.ts'

const strict = { how: 'strict', open: [], reads: 'all' } as const
const agents = { refund: './a.ts', images: './b.ts' }

describe('the flags of confined workers', () => {
  afterEach(() => void vi.unstubAllEnvs())

  it('are none where nothing was asked', () => {
    expect(workerFlags({ ...strict, how: 'seam' }, '/', true)).toEqual([])
  })

  it('let nothing but reading through', () => {
    expect(workerFlags(strict, '/', false)).toEqual(['--permission', '--allow-fs-read=*'])
  })

  it('let the inspector through where coverage is measured, and there alone', () => {
    expect(workerFlags(strict, '/', true)).toContain('--allow-inspector')
  })

  it('name the project and where Vitest lies when reading is narrow', () => {
    const flags = workerFlags({ ...strict, reads: 'project' }, process.cwd(), false)
    expect(flags).toContain(`--allow-fs-read=${process.cwd()}`)
    expect(flags).not.toContain('--allow-fs-read=*')
  })

  it('are none for the jobs of a command, which forks and writes', () => {
    const settings = parseOptions({ agents, confine: 'strict' })
    const [cases] = recordingsProjects(settings, () => [], '/')
    expect(cases?.test).toHaveProperty('execArgv')
    vi.stubEnv(jobsVariable, '/tmp/jobs.json')
    const [jobs] = recordingsProjects(settings, () => [], '/')
    expect(jobs?.test).not.toHaveProperty('execArgv')
  })
})

describe('cases of agents that are left out', () => {
  it('are found by the agent they name', () => {
    const root = mkdtempSync(path.join(tmpdir(), 'harvest-open-'))
    try {
      mkdirSync(path.join(root, 'recordings/golden'), { recursive: true })
      for (const name of Object.keys(agents))
        writeFileSync(path.join(root, `recordings/golden/${name}.case.yaml`), `case: ${name}\nagent: "${name}" # one\n`)
      const settings = parseOptions({ agents, confine: { default: 'strict', agents: { images: 'seam' } } })
      expect(openCases(root, 'recordings', settings.confine)).toEqual(['recordings/golden/images.case.yaml'])
      const [main, apart] = recordingsProjects(settings, () => [], root)
      expect(main?.test?.exclude).toContain('recordings/golden/images.case.yaml')
      expect(apart?.test).toMatchObject({ name: 'recordings (seam)', include: ['recordings/golden/images.case.yaml'] })
      expect(apart?.test).not.toHaveProperty('execArgv')
    } finally {
      rmSync(root, { recursive: true, force: true })
    }
  })
})
