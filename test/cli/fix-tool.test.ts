import { copyFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import type { Desk } from './desk.ts'
import { type FixKind, type FixProject, openFixProject } from './fix-kinds.ts'
import { warmRun as start } from './harvest.ts'
import { printed } from './printed.ts'

const calls = 'const result = await shop[call.function.name as keyof typeof shop](args as never)'
/** Asks for another detail of the order. */
const inEuros: FixKind['edits'] = [
  [calls, `if (call.function.name === 'lookup_order') args.unit = 'euros'\n      ${calls}`],
]
/** Refunds no more than the total. */
const clamp: FixKind['edits'] = [[calls, `if (args.amount > 25) args.amount = 25\n      ${calls}`]]
const standIns = `export const lookup_order = async ({ order_id, unit }: any) => ({ order_id, total: 25, unit })
export const refund = async ({ amount }: any) => ({ order_id: 'A-100', refunded: amount })
`

/** Looks the order up, refunds so much, says so. */
function refunds(amount: (said: string) => number): Desk['decide'] {
  return (messages) => {
    const done = messages.filter(({ role }) => role === 'tool').length
    if (done === 0) return { tool: 'lookup_order', args: { order_id: 'A-100' } }
    if (done > 1) return 'It is refunded.'
    return { tool: 'refund', args: { order_id: 'A-100', amount: amount(JSON.stringify(messages)) } }
  }
}

async function opened(edits: FixKind['edits'], decide: Desk['decide']): Promise<FixProject> {
  const project = await openFixProject({ name: 'tool', edits, decide, ok: ['refund(amount: 25)'], standIns })
  onTestFinished(() => project.close())
  return project
}

const ok = ['--ok', 'refund(amount: 25)'] as const

/** Grades of the runs, and of those asked as recorded. */
async function grades(project: FixProject, ...words: readonly string[]) {
  const asking = ['fix', 'incident', ...words, '--live', '--tools', './test/tools.ts', '--json']
  const { code, stdout, stderr } = await project.harvest(...asking)
  if (stdout === '') return { code, stderr }
  const { runs, controls } = JSON.parse(stdout) as Readonly<Record<'controls' | 'runs', readonly { grade: string }[]>>
  return { code, runs: runs.map(({ grade }) => grade), controls: controls.map(({ grade }) => grade) }
}

it('another argument of a tool is no fix where its model was wrong by chance: it is right as asked before, too', {
  tags: 'thorough',
}, async () => {
  let isRight = false
  const project = await opened(
    inEuros,
    refunds(() => (isRight ? 25 : 2500)),
  )
  isRight = true
  const planned = await project.harvest('fix', 'incident', ...ok)
  expect([planned.code, planned.stdout]).toEqual([1, expect.stringContaining('3 runs, and 3 as recorded')])
  const asking = printed(planned.stdout, 'to ask them with your own functions')
  const few = await project.harvest(...asking, '--runs', '2')
  expect([few.code, few.stderr]).toEqual([1, expect.stringContaining('So few runs cannot show a fix')])
  const { code, stderr } = await project.harvest(...asking)
  expect([code, stderr]).toEqual([1, expect.stringContaining('HARVEST_FIX_NOT_SHOWN')])
  expect(stderr).toContain('Without the fix the runs end well too (3 of 3), and nothing was written')
})

it('another argument of a tool is a fix where its model makes use of the answer', { tags: 'thorough' }, async () => {
  const project = await opened(
    inEuros,
    refunds((said) => (said.includes('euros') ? 25 : 2500)),
  )
  expect(await grades(project, ...ok)).toMatchObject({ runs: ['ok', 'ok', 'ok'], controls: ['bad', 'bad', 'bad'] })
})

it('a call that code alone makes right is a fix: by what was asked for without other runs, by a function beside recorded calls', {
  tags: 'thorough',
}, async () => {
  const project = await opened(
    clamp,
    refunds(() => 2500),
  )
  const runs = ['ok', 'ok', 'ok']
  expect(await grades(project, ...ok)).toMatchObject({ runs, controls: [] })
  expect(await grades(project, '--bad', 'refund(amount: 2500)')).toMatchObject({ runs, controls: [] })
  writeFileSync(
    join(project.cwd, 'src/oracle.ts'),
    'export const isRight = ({ sideEffects }: any) => sideEffects.every(({ args }: any) => (args.amount ?? 0) < 100)\n',
  )
  const controls = ['bad', 'bad', 'bad']
  expect(await grades(project, '--oracle', './src/oracle.ts#isRight')).toMatchObject({ runs, controls })
})

it('a call that is as good with every condition but those that forbid leaves the rest to chance', {
  tags: 'thorough',
}, async () => {
  const project = await opened(
    inEuros,
    refunds((said) => (said.includes('euros') ? 25 : 2500)),
  )
  const asked = ['--ok', 'lookup_order(unit: "euros")', '--bad', 'refund(amount: 2500)'] as const
  const { code, stdout } = await project.harvest('fix', 'incident', ...asked, '--any-name')
  expect([code, stdout]).toEqual([1, expect.stringContaining('3 runs, and 3 as recorded')])
})

it('runs that a reference answered are made again once its tape is another one', { tags: 'thorough' }, async () => {
  const project = await opened(
    clamp,
    refunds(() => 2500),
  )
  const inbox = join(project.cwd, 'recordings/inbox')
  const tapes = (): readonly string[] => readdirSync(inbox).filter((name) => name.endsWith('.tape.jsonl'))
  const record = async (): Promise<string> => {
    const before = tapes()
    const env = { DESK_URL: project.desk.url, CI: '' }
    await start(process.execPath, ['src/record.ts', project.git('rev-parse', 'HEAD').trim()], { cwd: project.cwd, env })
    return join(inbox, tapes().find((name) => !before.includes(name)) ?? 'none')
  }
  const [reference, other] = [await record(), await record()]
  const asked = async (): Promise<number> => {
    const before = project.desk.asked.length
    const { code, stdout, stderr } = await project.harvest('fix', 'incident', ...ok, '--live', '--reference', reference)
    expect([code, stdout], stderr).toEqual([1, expect.stringContaining('3 of 3')])
    return project.desk.asked.length - before
  }
  expect([await asked(), await asked()]).toEqual([3, 0])
  copyFileSync(other, reference)
  expect(await asked()).toBe(3)
})
