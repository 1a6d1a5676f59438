import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Answered, warmHarvest as harvest, warmRun as run } from './harvest.ts'
import { configFor, project } from './project.ts'

const agent = `import { tools } from 'vitest-harvest/record'
const shop = tools({ count: async () => ({ total: 25 }) })
export const countAgent = async () => shop.count()
`

const record = `import { createRecorder } from 'vitest-harvest/record'
import { countAgent } from './src/count.ts'
await createRecorder().run({ agent: 'count', id: 'counted', input: {} }, countAgent)
`

describe('a command that is typed in a folder below the project', () => {
  let root = ''
  const below = (words: readonly string[]): Promise<Answered> => harvest(words, { cwd: join(root, 'src') })
  const fork = ['--step', '1', '--result', '{"total":30}']
  beforeAll(async () => {
    root = project({
      'vitest.config.ts': configFor({ count: './src/count.ts#countAgent' }),
      'src/count.ts': agent,
      'record.ts': record,
    })
    expect(await run(process.execPath, ['record.ts'], { cwd: root })).toMatchObject({ code: 0 })
  })

  it('does not know its tapes, and names the folder in which it works', { tags: 'thorough' }, async () => {
    const { code, stderr } = await below(['fork', 'counted', ...fork])
    expect([code, stderr]).toEqual([2, expect.stringContaining('HARVEST_TAPE_MISSING')])
    expect(stderr).toContain('→ there is such a folder above, and commands run beside it: cd ..\n')
    expect(await harvest(['fork', 'counted', ...fork], { cwd: root })).toMatchObject({ code: 0 })
  })

  it('cannot run its agents either, and names that folder', async () => {
    const { code, stderr } = await below(['fork', 'counted', ...fork, '--dir', '../recordings'])
    expect([code, stderr]).toEqual([2, expect.stringMatching(/HARVEST_AGENTS_UNREACHABLE|HARVEST_AGENT_IMPORT/)])
    expect(stderr).toContain('→ the Vitest config lies in a folder above, to run there: cd ..\n')
  })

  it.each([
    'ls',
    'ls --golden',
    'ls --group',
    'check',
    'check --pins',
    'check --health',
    'doctor',
    'fix counted',
    'rerun --golden --live',
    'tapes prune --dry-run',
    'report --golden --out page.html --force',
  ])('finds no recordings there, and names that folder: %s', async (line) => {
    const words = line.split(' ')
    const { stdout, stderr } = await below(words)
    expect(stdout + stderr).toContain('→ there is such a folder above, and commands run beside it: cd ..\n')
    // Whoever is beside the recordings is sent nowhere.
    const beside = await harvest(words, { cwd: root })
    expect(beside.stdout + beside.stderr).not.toContain('folder above')
  })

  it('or above the packages of a workspace is told which of them have recordings, and which a config', {
    tags: 'thorough',
  }, async () => {
    const top = project({
      'packages/shop/vitest.config.ts': configFor({ count: './src/count.ts#countAgent' }),
      'packages/shop/src/count.ts': agent,
      'packages/shop/record.ts': record,
    })
    const cwd = join(top, 'packages/shop')
    expect(await run(process.execPath, ['record.ts'], { cwd })).toMatchObject({ code: 0 })
    for (const words of [['ls'], ['fork', 'counted', ...fork]]) {
      const { stdout, stderr } = await harvest(words, { cwd: top })
      expect(stdout + stderr).toContain(
        '→ there is such a folder below, and commands run beside it: cd packages/shop\n',
      )
    }
    const { stderr } = await harvest(['fork', 'counted', ...fork, '--dir', 'packages/shop/recordings'], { cwd: top })
    expect(stderr).toContain('→ a Vitest config lies in a folder below, to run there: cd packages/shop\n')
    expect(await harvest(['fork', 'counted', ...fork], { cwd })).toMatchObject({ code: 0 })
    // Beside one that cannot be looked into, too: no text is its name.
    mkdirSync(Buffer.concat([Buffer.from(`${top}/packages-`), Buffer.of(0xff)]))
    const { stdout, stderr: said } = await harvest(['ls'], { cwd: top })
    expect(stdout + said).toContain('commands run beside it: cd packages/shop\n')
  })

  it('has no config, and the command that needs it names that folder', async () => {
    const { code, stderr } = await below(['accept', '--list'])
    expect([code, stderr]).toEqual([2, expect.stringContaining('HARVEST_CLI_NO_REPORT')])
    expect(stderr).toContain('→ the Vitest config lies in a folder above, to run there: cd ..\n')
    const above = '→ the Vitest config lies in a folder above, to run there: cd ..\n'
    for (const words of [['test'], ['test', '--json', '--passWithNoTests'], ['test', '--root', '..']]) {
      const ran = await below(words)
      expect([words, ran.stderr.includes(above)]).toEqual([words, !words.includes('--root')])
    }
    expect((await harvest(['test'], { cwd: root })).stderr).not.toContain('folder above')
    const { stdout } = await below(['doctor'])
    expect(stdout).toContain(
      '! No Vitest config here\n  → the Vitest config lies in a folder above, to run there: cd ..\n',
    )
    expect(stdout).not.toContain('git does not ignore')
  })
})
