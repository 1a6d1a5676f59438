import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { type FixKind, type FixProject, openFixProject } from './fix-kinds.ts'
import { warmRun as start } from './harvest.ts'
import { printed } from './printed.ts'

const schema = "{ name: 'refund', description: 'Refunds an order; the amount is in cents' }"
const tool = '  refund: async ({ order_id, amount }'
/** The former tool is still there: a model that is asked as recorded calls it. */
const both = `  refund_exact: async ({ order_id, amount }: any) => ({ order_id, refunded: amount }),\n${tool}`
/** The tool has another name in what its model is offered, and in the code. */
const renamed: FixKind['edits'] = [
  [schema, "{ name: 'refund_exact', description: 'Refunds an order' }"],
  [tool, both],
]

/** Looks the order up and refunds it, with the tool that is offered. */
const decide: FixKind['decide'] = (messages, { tools }) => {
  const done = messages.filter(({ role }) => role === 'tool').length
  if (done === 0) return { tool: 'lookup_order', args: { order_id: 'A-100' } }
  if (done > 1) return 'It is refunded.'
  return tools.join(' ').includes('refund_exact')
    ? { tool: 'refund_exact', args: { order_id: 'A-100', amount: 25 } }
    : { tool: 'refund', args: { order_id: 'A-100', amount: 2500 } }
}

const standIns = `export const refund = async ({ amount }: any) => ({ order_id: 'A-100', refunded: amount })\n`
const call = 'refund_exact(amount: 25, order_id: "A-100")'
/** What this run does is bad; what would be right it does not say, so a run that left its tape has no grade. */
const bad = ['--bad', 'refund(amount: 2500)'] as const

async function opened(edits: FixKind['edits'] = renamed): Promise<FixProject> {
  const project = await openFixProject({ name: 'refused', edits, decide, ok: [], standIns })
  onTestFinished(() => project.close())
  return project
}

/** Records a run, and says what a command finds it by. */
async function record({ cwd, desk, git }: FixProject): Promise<string> {
  const inbox = join(cwd, 'recordings/inbox')
  const before = readdirSync(inbox)
  const env = { DESK_URL: desk.url, CI: '' }
  await start(process.execPath, ['src/record.ts', git('rev-parse', 'HEAD').trim()], { cwd, env })
  const made = readdirSync(inbox).find((name) => name.endsWith('.tape.jsonl') && !before.includes(name))
  return (made ?? 'none').replace('.tape.jsonl', '')
}

it('a fix offers another run only where that answers the refused call, and never the one that is given', {
  tags: 'thorough',
}, async () => {
  const project = await opened()
  // A good run of the same input, which has no call of the new name.
  project.unfix()
  project.desk.decide = (messages, question) => {
    const said = decide(messages, question)
    return JSON.stringify(said).includes('2500') ? { tool: 'refund', args: { order_id: 'A-100', amount: 25 } } : said
  }
  const former = await record(project)
  const promoted = await project.harvest('promote', former, '--as', 'good', '--unverified')
  expect(promoted.code, promoted.stderr).toBe(0)
  project.desk.decide = decide
  project.fix()
  for (const given of [[], ['--reference', 'good']]) {
    const lost = await project.harvest('fix', 'incident', ...bad, '--any-name', '--live', ...given)
    expect([lost.code, lost.stderr]).toEqual([1, expect.stringContaining('HARVEST_FIX_NOT_GOOD')])
    expect(lost.stderr).not.toContain('from another run')
    expect(lost.stderr.match(/--reference \S+/g)?.every((one) => given.join(' ') === one) ?? true).toBe(true)
  }
  const answering = await record(project)
  const lost = await project.harvest('fix', 'incident', ...bad, '--any-name', '--live', '--reference', 'good')
  const other = printed(lost.stderr, 'to answer them from another run')
  expect(other.slice(-2)).toEqual(['--reference', answering])
  const { stdout, stderr } = await project.harvest(...other)
  expect(stdout, stderr).toContain('3 of 3 (95 %: 43.8 % – 100.0 %) ok')
})

it('a fix names the call that has no answer, and what a file that was given has to export; runs without a grade are no rate', {
  tags: 'thorough',
}, async () => {
  const project = await opened()
  const asked = ['fix', 'incident', ...bad, '--any-name', '--live', '--tools', './test/tools.ts']
  const lost = await project.harvest(...asked)
  expect(lost.code).toBe(1)
  expect(lost.stdout).toMatch(/^ +1 +ungraded +nothing answers refund_exact\(amount: 25, order_id: "A-100"\)/m)
  expect(lost.stderr).toMatch(
    /^No run of the fixed agent could be judged, and nothing was written\n[^]*^ {2}not judged +3 of 3\n {2}no answer +refund_exact\(amount: 25, order_id: "A-100"\)\n/m,
  )
  expect(lost.stderr).not.toMatch(/95 %|^ {2}right |with your own functions/m)
  const again = printed(lost.stderr, 'once ./test/tools.ts exports refund_exact')
  expect(again).toEqual(asked)
  // By the calls it made until then.
  const byCalls = await project.harvest(...asked.with(2, '--ok').with(3, 'refund_exact(amount: 25)'))
  expect(byCalls.stdout).toMatch(/^ +1 +ok by its calls +nothing answers refund_exact\(/m)
  expect(byCalls.stderr).toContain('makes the right calls in 3 of 3 runs, but none ends on the tape')
  const file = join(project.cwd, 'test/tools.ts')
  writeFileSync(file, standIns + standIns.replace('refund', 'refund_exact'))
  const { stdout, stderr } = await project.harvest(...again)
  expect(stdout, stderr).toContain('3 of 3 (95 %: 43.8 % – 100.0 %) ok')
  // The functions may be those of one export.
  writeFileSync(file, `export const fakes = { refund: async () => null }\n`)
  const held = await project.harvest(...asked.with(-1, './test/tools.ts#fakes'))
  expect(printed(held.stderr, 'once fakes of ./test/tools.ts has refund_exact')).toEqual(
    asked.with(-1, './test/tools.ts#fakes'),
  )
})

it('a fix whose code makes another call says before it asks a model what nothing answers that was given', {
  tags: 'thorough',
}, async () => {
  const made = 'const result = await shop[call.function.name as keyof typeof shop](args as never)'
  const project = await opened([
    [tool, both],
    [
      made,
      `const name = call.function.name.replace('refund', 'refund_exact')\n${made.replace('call.function.name', 'name')}`,
    ],
  ])
  const before = project.desk.asked.length
  const plan = ['fix', 'incident', '--ok', 'refund_exact(order_id: "A-100")', '--any-name']
  const wrong = call.replace('25', '2500')
  const planned = await project.harvest(...plan)
  expect(planned.stdout).toContain(`nothing answers ${wrong} yet\n`)
  expect(planned.stdout).not.toContain('from another run')
  expect(
    printed(planned.stdout, 'to ask them with your own functions, once ./test/tools.ts exports refund_exact'),
  ).toEqual([...plan, '--live', '--tools', './test/tools.ts'])
  const given = await project.harvest(...plan, '--tools', './test/tools.ts')
  expect(printed(given.stdout, 'once ./test/tools.ts exports refund_exact')).toEqual([
    ...plan,
    '--tools',
    './test/tools.ts',
    '--live',
  ])
  writeFileSync(join(project.cwd, 'test/tools.ts'), standIns.replace('refund', 'refund_exact'))
  const complete = await project.harvest(...plan, '--tools', './test/tools.ts', '--json')
  expect(JSON.parse(complete.stdout)).toMatchObject({ refused: [], runs: [] })
  expect(project.desk.asked.length).toBe(before)
  const answering = await record(project)
  const offered = printed((await project.harvest(...plan)).stdout, 'or answered from another run')
  expect(offered).toEqual([...plan, '--live', '--reference', answering])
  const asked = await project.harvest(...plan, '--reference', answering, '--json')
  expect(JSON.parse(asked.stdout)).toMatchObject({ refused: [], runs: [] })
})

it('the case that a fix writes counts its runs of those that have a grade', { tags: 'thorough' }, async () => {
  const project = await opened()
  writeFileSync(join(project.cwd, 'test/tools.ts'), standIns.replace('refund', 'refund_exact'))
  writeFileSync(
    join(project.cwd, 'src/oracle.ts'),
    `export const isRight = ({ value, sideEffects }: any) =>
  value?.answer === 'Who knows?' ? undefined : sideEffects.some(({ args }: any) => args.amount === 25)\n`,
  )
  // One run of each kind has no grade.
  let ended = { fixed: 0, recorded: 0 }
  project.desk.decide = (messages, question) => {
    const said = decide(messages, question)
    if (typeof said !== 'string') return said
    const kind = question.tools.join(' ').includes('refund_exact') ? 'fixed' : 'recorded'
    ended = { ...ended, [kind]: ended[kind] + 1 }
    return ended[kind] === 2 ? 'Who knows?' : said
  }
  const asking = ['fix', 'incident', '--oracle', './src/oracle.ts#isRight', '--live', '--tools', './test/tools.ts']
  const few = await project.harvest(...asking)
  expect(few.stderr).toMatch(
    /^ {2}with the fix +2 of 2 ok, 1 not judged\n {2}asked as recorded +0 of 2 ok, 1 not judged\n/m,
  )
  const { code, stdout, stderr } = await project.harvest(...asking, '--runs', '9', '--yes')
  expect(code, stderr).toBe(0)
  expect(stdout).toMatch(/^8 of 8 \(95 %: [^)]+\) ok, 1 not judged; run 1 becomes the tape/m)
  expect(stdout).toMatch(/^asked as recorded 0 of 8, 1 not judged; by chance/m)
  const written = readFileSync(join(project.cwd, 'recordings/golden/incident.case.yaml'), 'utf8')
  expect(written).toMatch(/graded: .*8 of 8 ok by --oracle [^;]+, 1 not judged; asked as recorded 0 of 8, 1 not judged/)
})
