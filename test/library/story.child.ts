// What the README does, by the library alone: node story.child.ts <recordings> <folder of an import>
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  blame,
  chaos,
  checkRecordings,
  diagnose,
  diffRuns,
  exportTape,
  fork,
  HarvestError,
  importTapes,
  listTapes,
  loadCase,
  promote,
  readTape,
  replay,
} from '../../src/index.ts'
import { message } from '../../src/record/index.ts'

function raise(): never {
  throw new Error('late')
}

const [recordings = '', scratch = ''] = process.argv.slice(2)
type Ticket = Parameters<typeof import('../cli/refund-agent.ts').refundAgent>[0]
const agent = async (input: unknown): Promise<unknown> =>
  (await import('../cli/refund-agent.ts')).refundAgent(input as Ticket)

/** The code of what a promise rejects with. */
async function codeOf(run: Promise<unknown>): Promise<string> {
  try {
    await run
  } catch (error) {
    if (HarvestError.is(error)) return error.code
    throw error
  }
  return 'none'
}

const listed = await listTapes(recordings, { filter: { agent: 'refund' } })
const tape = listed.tapes[0]?.file ?? ''
const replayed = await replay(tape, agent)
const other = await replay(tape, async (input) => ({ ...((await agent(input)) as object), refunded: 1 }))
/** The agent, and what it does after it returned. */
const leaving = (work: () => void) => async (input: unknown) => {
  const answer = await agent(input)
  setTimeout(work, 5)
  return answer
}
const send = (): void => message('refund', 'audit', { id: 'A-17' })
const lates = [send, () => raise(), () => void Promise.reject(new Error('late')), () => undefined]
const late: unknown[] = []
for (const work of lates) {
  const { verdict, problems } = await replay(tape, leaving(work))
  late.push([verdict.verdict, ...problems.map(({ code }) => code)])
}
const redLate = await codeOf(promote(tape, { recordings, as: 'late', agent: leaving(send) }))
const red = await codeOf(promote(tape, { recordings, as: 'wrong', agent: () => ({ refunded: 1 }) }))
const kase = await promote(tape, { recordings, as: 'refund-a1', agent })
const loaded = await loadCase(kase.file)
const checked = await checkRecordings(recordings)
writeFileSync(join(recordings, 'golden/broken.case.yaml'), 'agent: refund\ntape: nowhere.tape.jsonl\n')
const broken = await checkRecordings(recordings)
const branch = await fork(tape, { agent, step: 2, change: { path: 'result.value', value: 10 } })
const branchFile = join(recordings, 'inbox/branch.tape.jsonl')
writeFileSync(branchFile, branch.branch.text)
const exported = await exportTape(tape, { format: 'har' })
const silent = await exportTape(readTape(tape), { format: 'otlp', content: false })
const harFile = join(scratch, 'run.har')
writeFileSync(harFile, exported.text)
const imported = await importTapes(harFile, { agent: 'refund' })
const ofBytes = await importTapes(readFileSync(harFile), { id: 'from-bytes' })
const written = await importTapes(harFile, { agent: 'refund', into: recordings })
const findings = await diagnose(tape, { agent })
const resampled = await diagnose(tape, {
  agent: async (input) => ({ ...((await agent(input)) as object), from: process.env['REFUND_REGION'] ?? 'none' }),
})
const tried = await chaos(tape, { agent, runs: 5, seed: 1 })
const unlimited = await codeOf(blame(tape, { agent, bad: ['refunded=25'], limits: {} as never }))
const [blamedCode, blamed] = await blame(tape, { agent, bad: ['refunded=25'], limits: { forks: 3 } }).then(
  (run) => ['none', run.verdict?.kind] as const,
  (error: unknown) => [HarvestError.is(error) ? error.code : String(error), undefined] as const,
)
const diff = await diffRuns(tape, branchFile)
console.log(
  JSON.stringify({
    listed: listed.tapes.map(({ id, outcome }) => [id, outcome]),
    replayed: replayed.verdict.verdict,
    other: other.verdict.verdict,
    late,
    redLate,
    red,
    kase: [kase.id, kase.agent, loaded.id === kase.id],
    checked: [checked.checked, checked.findings.map(({ code }) => code)],
    broken: broken.findings.map(({ code }) => code),
    branch: branch.outcome.status,
    exported: Object.keys(JSON.parse(exported.text) as object),
    silent: silent.text.includes('Refund this order'),
    imported: imported.map(({ tape: one, facts, file }) => [one.header.agent, facts.format, file === undefined]),
    ofBytes: ofBytes.map(({ tape: one }) => one.header.id),
    written: written.map(({ file, tape: one }) => [file?.startsWith(join(recordings, 'inbox')), one.header.agent]),
    findings: findings.map(({ sources }) => sources[0]?.name),
    resampled: resampled.map(({ sources }) => sources[0]?.name),
    tried: tried.runs,
    unlimited,
    blamed: [blamedCode, blamed],
    diff: diff.class,
  }),
)
