import { afterAll, beforeAll, expect, it } from 'vitest'
import type { TapeEvent } from '../../src/tape/index.ts'
import { type Home, type InlineProject, openHome } from './inline.ts'
import { golden } from './refund.ts'
import { reported, withJson } from './reports.ts'

/** An agent that answers by what it adds to its input; what it says, and notes, is a setting of the test. */
const sources = {
  'vitest.config.ts': `import { defineConfig } from 'vitest/config'
import { harvest } from 'vitest-harvest/plugin'
export default defineConfig({ plugins: [harvest({ agents: { desk: './src/desk.ts#desk' } })] })
`,
  'src/desk.ts': `import { state, tool } from 'vitest-harvest/record'

const look = tool('look', async () => 25)
export async function desk(input: { messages: object[]; id?: string }) {
  if (process.env.LOOK !== 'no') await look()
  state('cart', { total: Number(process.env.TOTAL ?? 25) })
  state('cart', { total: 0 })
  if (process.env.MORE) state('more', process.env.MORE)
  input.messages.push({ role: 'assistant', content: process.env.SAID ?? 'Refunded 25 EUR.' })
  delete input.id
  return 'done'
}
`,
}
const asked = { role: 'user', content: 'Refund it.' }
const events: readonly TapeEvent[] = [
  { kind: 'tool', n: 1, at: 0, name: 'look', args: [], settled: [2, 0], result: 25 },
  { kind: 'state', n: 3, at: 0, name: 'cart', call: 1, data: { total: 25 } },
  { kind: 'state', n: 4, at: 0, name: 'cart', call: 2, data: { total: 0 } },
]
const caseFile = 'recordings/golden/refund.case.yaml'
const files = golden('refund', 'baseline:\n  - look()\n', {
  agent: 'desk',
  input: { messages: [asked], id: 'A-1' },
  events,
  returned: 'done',
  left: { messages: [asked, { role: 'assistant', content: 'Refunded 25 EUR.' }] },
})

let home: Home
let project: InlineProject
beforeAll(() => {
  home = openHome(5)
  project = home.project('states', { ...sources, ...files })
})
afterAll(() => home?.[Symbol.dispose]())

const run = async (env: Readonly<Record<string, string>>, ...args: readonly string[]) => {
  const { code, output } = await project.run(['run', ...args, ...withJson], { env })
  return { code, output, meta: reported(project).get('golden/refund')?.meta.harvest }
}
const update = (env: Readonly<Record<string, string>>) =>
  run({ ...env, HARVEST_UPDATE_REASON: 'answers are politer', VITEST_HARVEST_UPDATE: 'all' })
const politer = { SAID: 'Refunded 25 EUR, sorry.' }

it('another one is red until a person accepts it by the command that is printed, and never in CI', async () => {
  expect(await run({})).toMatchObject({ code: 0 })
  const red = await run(politer)
  expect(red).toMatchObject({ code: 1, meta: { code: 'HARVEST_STATES' } })
  expect(red.output).toContain('→ if the new behaviour is right: npx vitest-harvest test refund --update-recordings')
  expect(red.output).not.toContain('record the run again')
  expect(red.output).toContain('Recordings  0 replayed, 1 diverged')
  expect((await update({ ...politer, CI: '1' })).output).toContain('HARVEST_ALLOW_CI_UPDATE=1')
  expect(project.read(caseFile)).toBe(files[caseFile])
  expect((await update(politer)).output).toContain(`Updated  ${caseFile}`)
  expect(project.read(caseFile)).toContain(`states:
  - of: input
    changes:
      - path: /messages/1/content
        value: Refunded 25 EUR, sorry.
`)
  expect(await run(politer)).toMatchObject({ code: 0 })
  const verify = await project.run(['verify', 'refund'], { bin: 'harvest', env: politer })
  expect(verify.output).toMatch(/states +3 +2, 1 other +✗/)
  expect(verify.output).toContain('refund: different; not bit-exact')
})

it('is compared with the accepted one, and back at the recorded one an update takes it out of the case', {
  tags: 'thorough',
}, async () => {
  const other = await run({ SAID: 'Refunded 1000 EUR, sorry.' })
  expect(other).toMatchObject({ code: 1, meta: { code: 'HARVEST_STATES' } })
  expect(other.output).toContain('input.messages[1].content: Refunded [-25-] {+1000+} EUR, sorry.')
  expect(other.output).toMatch(/refund\.case\.yaml:\d+:1/)
  expect(await run({})).toMatchObject({ code: 1, meta: { code: 'HARVEST_STATES' } })
  expect((await update({})).output).toContain(`Updated  ${caseFile}`)
  expect(project.read(caseFile)).not.toContain('states:')
  expect(await run({})).toMatchObject({ code: 0 })
})

it('of snapshots is accepted with the input and the calls in one update: one that changed, one that is new', {
  tags: 'thorough',
}, async () => {
  const now = { ...politer, LOOK: 'no', TOTAL: '30', MORE: 'vip' }
  expect(await run(now)).toMatchObject({ code: 1 })
  expect((await update(now)).output).toContain(`Updated  ${caseFile}`)
  const text = project.read(caseFile)
  expect(text).toContain(`  - of: cart
    call: 1
    changes:
      - path: /total
        value: 30
  - of: more
    call: 1
    changes:
      - path: ""
        value: vip
  - of: input
`)
  expect(text).toContain('baseline: []')
  expect(await run(now)).toMatchObject({ code: 0 })
  // The call that is left out hides nothing of what comes after it.
  expect(await run({ ...now, SAID: 'No.' })).toMatchObject({ code: 1, meta: { code: 'HARVEST_STATES' } })
  expect(await run({ ...now, MORE: '' })).toMatchObject({ code: 1, meta: { code: 'HARVEST_STATES' } })
})

it('in a test by hand leads to another recording: there is no case to update', { tags: 'thorough' }, async () => {
  project.write(
    'src/desk.test.ts',
    `import { test } from 'vitest'
import { replay } from 'vitest-harvest/vitest'
import { desk } from './desk.ts'
test('desk', () => replay('recordings/golden/refund.tape.jsonl', desk))
`,
  )
  expect(await run({}, 'src/desk')).toMatchObject({ code: 0 })
  const { code, output } = await run(politer, 'src/desk')
  expect(code).toBe(1)
  expect(output).toContain('input.messages[1].content: Refunded 25 EUR {+, sorry+}.')
  expect(output).toContain('→ if the new behaviour is right: record the run again')
  expect(output).not.toContain('--update-recordings')
})
