import { existsSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Home, type InlineProject, openHome } from './inline.ts'
import { config, golden, refundSources } from './refund.ts'
import { reported, withJson } from './reports.ts'

const agents = `import { spawnSync } from 'node:child_process'
import { createHook } from 'node:async_hooks'
import { writeFileSync } from 'node:fs'

const spawn = (name: string): void => {
  try { spawnSync('touch', [name + '.spawned']) } catch {}
}

export async function writes() { writeFileSync('writes.file', 'x') }
export async function timer() {
  setTimeout(() => { writeFileSync('timer.file', 'x'); spawn('timer') }, 20)
}
export async function uncaught() {
  process.once('uncaughtException', () => spawn('uncaught'))
  setTimeout(() => { throw new Error('late') }, 20)
}
// As docs/boundary.md says, Node calls it without a context.
export async function hook() {
  let calls = 0
  const all = createHook({ init() { if (++calls === 200) { all.disable(); writeFileSync('hook.file', 'x') } } })
  all.enable()
}
`

const test = (name: string): string => `import { test } from 'vitest'
import { replay } from 'vitest-harvest/vitest'
import { ${name} } from './agents.ts'
test('${name}', async () => {
  await replay('recordings/golden/none.tape.jsonl', () => ${name}())
  for (let i = 0; i < 150; i++) await new Promise((resolve) => setTimeout(resolve, 2))
})
`

describe('a test by hand whose agent writes and leaves work', () => {
  let home: Home
  let project: InlineProject
  let run: { readonly output: string; readonly code: number | null }
  const names = ['writes', 'timer', 'uncaught', 'hook']
  const isThere = (file: string): boolean => existsSync(path.join(project.folder, file))
  beforeAll(async () => {
    home = openHome(5)
    project = home.project('by-hand-late', {
      'vitest.config.ts': config(),
      ...refundSources,
      ...golden('none', 'baseline: []\n', { calls: [] }),
      'src/agents.ts': agents,
      ...Object.fromEntries(names.map((name) => [`src/${name}.test.ts`, test(name)])),
    })
    run = await project.run(['run', ...names.map((name) => `src/${name}`), ...withJson])
  })
  afterAll(() => home?.[Symbol.dispose]())

  it('lists its writes, also those after the run, in the summary and the JSON report', () => {
    expect(run.output).toMatch(/Writes {2,}\S*\.file \(fs\.writeFileSync, src\/agents\.ts:\d+:\d+\)/)
    const files = ['writes', 'timer'].map((name) => {
      const { meta } = reported(project).get(name) as { readonly meta: { readonly harvestListed?: object } }
      return meta.harvestListed
    })
    expect(files).toMatchObject([[{ kind: 'write', target: 'writes.file' }], [{ kind: 'write', target: 'timer.file' }]])
  })

  it('is red by what is refused after the run, and nothing is started', () => {
    expect(run.code).toBe(1)
    expect(run.output).toMatch(/Blocked real I\/O after the run: child_process.* touch timer.spawned/)
    expect(run.output).toMatch(/Blocked real I\/O after the run: child_process.* touch uncaught.spawned/)
    expect(run.output).toContain('(HARVEST_RUN_OVER)')
    expect(['timer.spawned', 'uncaught.spawned'].filter(isThere)).toEqual([])
    expect(isThere('timer.file')).toBe(true)
  })

  it('neither lists nor refuses what an async hook does that it left on', () => {
    expect(isThere('hook.file')).toBe(true)
    expect(run.output).not.toContain('hook.file')
  })
})
