import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startShopProvider } from '../../fixtures/refund/provider.ts'
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
  openRecordings,
  promote,
  readTape,
  replay,
} from '../../src/index.ts'
import { createRecorder } from '../../src/record/index.ts'

/*
 * The story of the README, and each command behind it, without the command line. One story: each test builds on those before.
 */
type Ticket = { readonly text: string }
const folder = join(mkdtempSync(join(tmpdir(), 'vitest-harvest-story-')), 'recordings')
let provider: Awaited<ReturnType<typeof startShopProvider>>
let refundAgent: (ticket: Ticket) => Promise<{ readonly answer: string | null }>
const agent = (input: unknown) => refundAgent(input as Ticket)

async function handle(text: string): Promise<string> {
  const tapes: string[] = []
  const recorder = createRecorder({ dir: join(folder, 'inbox'), onTape: (file) => tapes.push(file) })
  await recorder.run({ agent: 'refund', input: { text } }, () => refundAgent({ text }))
  return tapes[0]!
}

beforeAll(async () => {
  provider = await startShopProvider()
  process.env['OPENAI_BASE_URL'] = provider.url
  refundAgent = (await import('../../fixtures/refund/refund-agent.ts')).refundAgent
})
afterAll(async () => {
  await provider.close()
  delete process.env['OPENAI_BASE_URL']
  rmSync(join(folder, '..'), { recursive: true })
})

test('a recorded run is listed, read, and promoted to a case', async () => {
  const file = await handle('Please refund my order A-100, it arrived broken.')
  const { tapes } = await listTapes(folder, { filter: { tool: 'refund' } })
  expect(tapes.map((tape) => tape.file)).toEqual([file])
  const kase = await promote(file, { as: 'refund-broken-item', recordings: folder, agent })
  expect(await loadCase(kase.file)).toMatchObject({
    id: 'refund-broken-item',
    outcome: { answer: 'I refunded 25 EUR for order A-100.' },
  })
  expect(readTape(file).close?.outcome).toMatchObject({ status: 'returned' })
  expect((await checkRecordings(folder)).findings).toEqual([])
})

test('its replay is the same, asks no model, and another agent is red', async () => {
  const before = provider.asked()
  const tape = join(folder, 'golden/refund-broken-item.tape.jsonl')
  const same = await replay(tape, agent)
  expect(same.verdict.verdict).toBe('same')
  const broken = await replay(tape, async () => ({ answer: 'nothing' }))
  expect(broken.verdict.verdict).toBe('different')
  expect(HarvestError.is(broken.problems[0])).toBe(true)
  expect((await diffRuns(same.tape, tape)).class).toBe('same')
  expect(await diagnose(tape, { agent })).toEqual([])
  expect(provider.asked()).toBe(before)
})

test('a model that decided badly is blamed, within a limit', async () => {
  const file = await handle('Refund 25.00 EUR for order A-100, please.')
  const run = await blame(file, { agent, ok: ['refund(amount: 25)'], limits: { forks: 200 }, crossVersion: true })
  const [decided] = run.verdict?.kind === 'confirmed' ? run.verdict.commitments : []
  expect(run.steps[decided?.position ?? -1]).toMatchObject({ steps: [4] })
  // The failure goes away when the model is asked again.
  const limits = { forks: 200 }
  const layer = await blame(file, { agent, ok: ['refund(amount: 25)'], limits, crossVersion: true, isolate: true })
  expect(layer.verdict).toEqual({ kind: 'found', layers: ['sampling'] })
})

test('what if: a fork, and injected faults', async () => {
  const tape = join(folder, 'golden/refund-broken-item.tape.jsonl')
  const branch = await fork(tape, { agent, step: 5, change: { path: 'result.refunded', value: 20 } })
  expect(branch.prefix.isExact).toBe(true)
  const report = await chaos(tape, { agent, faults: ['tools'], runs: 5, seed: 1 })
  expect(report.runs).toBeGreaterThan(0)
})

test('a run goes out as HAR, and comes back in as a tape', async () => {
  const { text } = await exportTape(join(folder, 'golden/refund-broken-item.tape.jsonl'), { format: 'har' })
  const [imported] = await importTapes(Buffer.from(text), { agent: 'refund' })
  expect(imported?.facts.format).toBe('har')
  // What is to leave without contents never leaves with them.
  const page = exportTape(join(folder, 'golden/refund-broken-item.tape.jsonl'), { format: 'html', content: false })
  await expect(page).rejects.toThrow(TypeError)
})

test('tapes are held, released, pruned and removed, and a case is demoted', async () => {
  const recordings = await openRecordings(folder)
  const file = recordings.find('latest')
  expect(recordings.hold('latest', 'claim 7')).toMatchObject({ reason: 'claim 7' })
  await expect(recordings.remove(file)).rejects.toMatchObject({ code: 'HARVEST_RECORDINGS_HELD' })
  recordings.release(file)
  expect(await recordings.prune({ dryRun: true })).toMatchObject({ removed: [], held: [] })
  expect((await recordings.pins()).cases).toMatchObject([
    { id: 'refund-broken-item', pins: { models: ['gpt-5'] }, stale: [] },
  ])
  expect(recordings.demote('refund-broken-item').removed).toHaveLength(2)
  expect(await recordings.remove(file)).toEqual([file])
  expect((await listTapes(folder)).tapes.map((tape) => tape.file)).not.toContain(file)
})
