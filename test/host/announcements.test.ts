import { afterAll, beforeAll, expect, it } from 'vitest'
import type { TapeEvent } from '../../src/tape/index.ts'
import { type Home, type InlineProject, openHome } from './inline.ts'
import { golden } from './refund.ts'
import { reported, withJson } from './reports.ts'

/** Two agents that hand a refund over; the receiver is a setting of the test. */
const sources = {
  'vitest.config.ts': `import { defineConfig } from 'vitest/config'
import { harvest } from 'vitest-harvest/plugin'
export default defineConfig({ plugins: [harvest({ agents: { desk: './src/desk.ts#desk' } })] })
`,
  'src/desk.ts': `import { mark, message } from 'vitest-harvest/record'

export async function desk({ order_id }: { order_id: string }) {
  message('planner', process.env.RECEIVER ?? 'worker', { refund: order_id })
  mark('handed over', { budget: Number(process.env.BUDGET ?? 100) })
  return 'done'
}
`,
}
const said: readonly TapeEvent[] = [
  { kind: 'message', n: 1, at: 0, from: 'planner', to: 'worker', body: { refund: 'A-1' } },
  { kind: 'mark', n: 2, at: 0, name: 'handed over', data: { budget: 100 } },
]
const caseFile = 'recordings/golden/hand-over.case.yaml'
const files = golden('hand-over', 'baseline: []\n', { agent: 'desk', events: said, returned: 'done' })

let home: Home
let project: InlineProject
beforeAll(() => {
  home = openHome(5)
  project = home.project('announcements', { ...sources, ...files })
})
afterAll(() => home?.[Symbol.dispose]())

const run = async (env: Readonly<Record<string, string>>, ...args: readonly string[]) => {
  const { code, output } = await project.run(['run', ...args, ...withJson], { env })
  return { code, output, meta: reported(project).get('golden/hand-over')?.meta.harvest }
}

it('a case without lists is compared with its tape: another receiver is red, at the line that sends', {
  tags: 'thorough',
}, async () => {
  expect(await run({})).toMatchObject({ code: 0 })
  const { code, output, meta } = await run({ RECEIVER: 'auditor', BUDGET: '1000' })
  expect(code).toBe(1)
  expect(meta).toMatchObject({ code: 'HARVEST_MESSAGES' })
  expect(output).toContain('changed  message 1, planner → worker  (src/desk.ts:4:3)')
  expect(output).toContain('to: [-worker-] {+auditor+}')
  expect(output).toContain('Recordings  0 replayed, 1 diverged')
})

it('verify counts messages and marks, and is not bit-exact when they differ', { tags: 'thorough' }, async () => {
  const verify = (env: Readonly<Record<string, string>>) =>
    project.run(['verify', 'hand-over', '--agent', './src/desk.ts#desk'], { bin: 'harvest', env })
  const same = await verify({})
  expect(same.output).toMatch(/messages between agents +1 +1 +✓\nmarks +1 +1 +✓/)
  expect(same.output).toContain('hand-over: same; bit-exact')
  const other = await verify({ BUDGET: '1000' })
  expect(other.code).toBe(1)
  expect(other.output).toMatch(/messages between agents +1 +1 +✓\nmarks +1 +0, 1 other +✗/)
  expect(other.output).toContain('data.budget: [-100-] {+1000+}')
  expect(other.output).toContain('hand-over: different; not bit-exact')
})

it('an update with a reason lists them in the case, which then stands for the tape', { tags: 'thorough' }, async () => {
  const changed = { RECEIVER: 'auditor', BUDGET: '1000' }
  const update = await run({ ...changed, HARVEST_UPDATE_REASON: 'audits are new', VITEST_HARVEST_UPDATE: 'all' })
  expect(update.output).toContain(`Updated  ${caseFile}`)
  const text = project.read(caseFile)
  expect(text).toContain(`messages:
  - from: planner
    to: auditor
    body:
      refund: A-1
marks:
  - name: handed over
    data:
      budget: 1000
`)
  expect(await run(changed)).toMatchObject({ code: 0 })
  const before = await run({ ...changed, RECEIVER: 'worker' })
  expect(before).toMatchObject({ code: 1, meta: { code: 'HARVEST_MESSAGES' } })
  expect(before.output).toContain('to: [-auditor-] {+worker+}')
  expect(before.output).toMatch(/hand-over\.case\.yaml:\d+:1/)
})
