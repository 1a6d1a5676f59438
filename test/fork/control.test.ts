import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseExpectation } from '../../src/blame/expectation.ts'
import { forkSourceOf } from '../../src/blame/fork-source.ts'
import { compareBranches } from '../../src/blame/index.ts'
import { mutantsOf } from '../../src/blame/mutants.ts'
import { createOracle } from '../../src/blame/oracle.ts'
import { chaos, type FaultSchedule } from '../../src/faults/index.ts'
import { type Control, controlOf, fork, type ForkChange, forkTape } from '../../src/fork/index.ts'
import { openBudget } from '../../src/live/index.ts'
import { createRecorder, tools } from '../../src/record/index.ts'
import { parseTape, readTape, stepsOf, type Tape } from '../../src/tape/index.ts'
import { branchTape } from '../../src/cli/forking/branch-tape.ts'

const shop = tools({
  lookup_order: async ({ order_id }: { order_id: string }) => ({ order_id, total: 25, note: 'n' }),
  note: async (text: { text: string }) => text,
})

/** What differs between the code that was recorded and the code of today. */
interface Code {
  readonly prompt?: string
  readonly words?: string
  readonly leavesNoteOut?: boolean
  readonly asksAgain?: boolean
}

/** Looks an order up, asks its model for a sentence about it, notes it down. */
function agentOf({ prompt = 'Be kind.', words = 'refunded', leavesNoteOut = false, asksAgain = false }: Code) {
  return async (): Promise<unknown> => {
    const order = await shop.lookup_order({ order_id: 'A-1' })
    const said = await ask(prompt, `total ${order.total}`)
    if (asksAgain) await ask(prompt, 'really?')
    if (!leavesNoteOut) await shop.note({ text: said })
    return { answer: `${words} ${order.total}`, at: new Date().getTime() > 0 }
  }
}

let url = ''
async function ask(prompt: string, text: string): Promise<string> {
  const messages = [
    { role: 'system', content: prompt },
    { role: 'user', content: text },
  ]
  const body = JSON.stringify({ model: 'gpt-4o', messages })
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body })
  const { choices } = (await response.json()) as { choices: { message: { content: string } }[] }
  return choices[0]?.message.content ?? ''
}

const changed: Code = { words: 'paid back' }
/** Its case says so. */
const green = { isGreen: () => true }
const accepted = {
  accepted: (run: { drift: readonly { key: string }[] }) => new Map(run.drift.map(({ key }) => [key, 'all'])),
}

describe('what a what-if is compared with', () => {
  let tape: Tape
  const dir = mkdtempSync(join(tmpdir(), 'harvest-control-'))
  const server = http.createServer((request, response) => {
    request.resume().on('end', () => {
      response.setHeader('content-type', 'application/json')
      const message = { role: 'assistant', content: 'All done.' }
      response.end(
        JSON.stringify({ id: 'c', object: 'chat.completion', model: 'gpt-4o', choices: [{ index: 0, message }] }),
      )
    })
  })
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const recorder = createRecorder({ dir })
    await recorder.run({ agent: 'desk', input: {} }, agentOf({}))
    tape = readTape(recorder.lastTape ?? '')
  })
  afterAll(() => {
    server.close()
    rmSync(dir, { recursive: true, force: true })
  })

  const control = (code: Code, more: object = {}): Promise<Control> =>
    controlOf(tape, { load: () => Promise.resolve(agentOf(code)), ...more })

  /** What a changed run comes to beside the unchanged one, and beside the recording. */
  async function effect(code: Code, change: ForkChange) {
    const arm = await control(code)
    const plan = { keep: 1, changes: [change], tail: { from: 'tape', serve: 'reworded' }, control: arm } as const
    const run = await forkTape(tape, agentOf(code), plan)
    const branch = branchTape(run.branch.text, tape)
    const [beside] = compareBranches(arm.run, [branch], [1])
    const [recording] = compareBranches(tape, [branch], [1])
    return { ...run, beside: beside?.outcome.same, recording: recording?.outcome.same }
  }
  const reachesNothing: ForkChange = { step: 1, path: 'result.note', value: 'm' }
  const reaches: ForkChange = { step: 1, path: 'result.total', value: 30 }

  // The four rows: code as recorded and changed, a change that reaches nothing and one that does.
  it('names the limit of one run where the unchanged run takes longer', async () => {
    const slow = async (): Promise<unknown> => {
      await new Promise(() => {})
      return agentOf({})()
    }
    const options = { load: async () => slow, timeoutMs: 300, hangMs: 60_000 }
    await expect(controlOf(tape, options)).rejects.toMatchObject({
      code: 'HARVEST_CONTROL',
      facts: {
        what: 'The control run had not ended when its time was up',
        where: { limit: '300 ms' },
        fix: [expect.stringMatching(/^with more time: --timeout \d+s$/)],
      },
    })
  })

  it('code as recorded: a change that reaches nothing has no effect', async () => {
    expect(await effect({}, reachesNothing)).toMatchObject({ beside: true, recording: true, isInert: true })
  })

  it('code as recorded: a change of a value that is used has one', async () => {
    expect(await effect({}, reaches)).toMatchObject({ beside: false, recording: false, isInert: false })
  })

  it('changed code: a change that reaches nothing has no effect, though it does not end as recorded', async () => {
    const { beside, recording, isInert, comparison } = await effect(changed, reachesNothing)
    expect({ beside, recording, isInert, equal: comparison.outcomeEqual }).toEqual({
      beside: true,
      recording: false,
      isInert: true,
      equal: true,
    })
  })

  it('changed code: a change of a value that is used has one', async () => {
    expect(await effect(changed, reaches)).toMatchObject({ beside: false, recording: false, isInert: false })
  })

  it.each([
    ['as recorded', {}, 'answer=refunded 25'],
    ['changed', changed, 'answer=paid back 25'],
  ])(
    'code %s: a mutant that reaches nothing flips no grade, and one of a value that is used does',
    async (_, code, ok) => {
      const source = await forkSourceOf(tape, {
        load: () => Promise.resolve(agentOf(code)),
        oracle: createOracle({ by: 'expectations', ok: [parseExpectation(ok, '--ok')], bad: [] }),
        budget: openBudget({}),
        timeoutMs: 10_000,
      })
      expect(source.recorded).toBe('ok')
      const position = source.positions.findIndex(({ steps }) => steps.includes(1))
      const step = stepsOf(tape)[0]
      const paths =
        step === undefined ? [] : mutantsOf(step, 1).map((one) => (one.kind === 'value' ? one.patch.path : ''))
      const gradeOf = async (path: string) => {
        const mutated = { position, mutant: paths.indexOf(path) }
        return (await source.draw({ keep: position + 1, mutated, seed: 0 }, new AbortController().signal)).grade
      }
      expect([await gradeOf('result.note'), await gradeOf('result.total')]).toEqual(['ok', 'bad'])
    },
  )

  it('a host that is the recorded one by now is that to every what-if, and live tails ask it', async () => {
    // The recorded host is gone; the agent asks the one that took its place.
    const recorded = 'https://models.example'
    const events = JSON.parse(JSON.stringify(tape.events).replaceAll(url, recorded)) as Tape['events']
    const moved: Tape = { ...tape, events }
    const replay = { hosts: { [recorded]: [url] } }
    const load = () => Promise.resolve(agentOf({}))
    await expect(controlOf(moved, { load })).rejects.toMatchObject({ code: 'HARVEST_CONTROL' })
    const arm = await controlOf(moved, { load, replay })
    expect(arm.differs).toBeUndefined()

    const plan = { keep: 2, changes: [{ step: 1, path: 'result.note', value: 'm' }], tail: { from: 'tape' } } as const
    const run = await forkTape(moved, agentOf({}), { ...plan, control: arm }, replay)
    expect([run.isInert, run.prefix.isExact, run.problems]).toEqual([true, true, []])

    const report = await chaos(moved, { agent: agentOf({}), faults: ['http-slow'], runs: 2, seed: 1, ...replay })
    expect(report.survived).toBe(true)

    const source = await forkSourceOf(moved, {
      load,
      oracle: createOracle({ by: 'expectations', ok: [parseExpectation('answer=refunded 25', '--ok')], bad: [] }),
      budget: openBudget({}),
      timeoutMs: 10_000,
      control: { replay },
      ...replay,
    })
    // Behind the kept step the model is asked for real, and it is the new host that answers.
    const position = source.positions.findIndex(({ isExogenous }) => !isExogenous)
    const drawn = await source.draw({ keep: position, seed: 0 }, new AbortController().signal)
    expect(drawn).toMatchObject({ grade: 'ok', modelCalls: 1 })
  })

  it.each([
    ['as recorded', {}],
    ['changed', changed],
  ])(
    'code %s: a fault that reaches nothing is survived, and one of a value that is used is not',
    { tags: 'thorough' },
    async (_, code) => {
      const survives = async (kind: string, args: FaultSchedule[number]['args']) => {
        const examples = [[{ step: 1, kind, args }]]
        const report = await chaos(tape, { agent: agentOf(code), faults: ['tools'], examples, runs: 1, seed: 1 })
        expect(report.control.differs?.what).toBe(code === changed ? 'outcome.answer' : undefined)
        return report.survived
      }
      expect([await survives('tool-slow', { ms: 500 }), await survives('tool-no-answer', {})]).toEqual([true, false])
    },
  )

  it("is the recording itself, and says nothing, where today's code does the same", async () => {
    const arm = await control({})
    expect(arm.run).toBe(tape)
    expect(arm.tape).toBe(tape)
    expect(arm).not.toHaveProperty('differs')
    expect(arm).not.toHaveProperty('branch')
  })

  it.each([
    ['outcome', changed, { step: 3, what: 'outcome.answer' }],
    ['a step that is left out', { leavesNoteOut: true }, { step: 3, what: 'note is left out' }],
  ])("names where today's code first differs: %s", async (_, code, differs) => {
    expect((await control(code, green)).differs).toEqual(differs)
  })

  it('a question that was accepted is what kept steps are asked by', async () => {
    const code = { prompt: 'Be brief.' }
    const arm = await control(code, accepted)
    expect(arm.differs).toEqual({ step: 2, what: 'system prompt' })
    const plan = { keep: 3, tail: { from: 'tape' } } as const
    const without = await forkTape(tape, agentOf(code), plan)
    expect(without.prefix.divergence?.code).toBe('HARVEST_FORK_PREFIX')
    const run = await forkTape(tape, agentOf(code), { ...plan, control: arm })
    expect(run.prefix).toEqual({ steps: 3, isExact: true })
    expect(run.isInert).toBe(true)
  })

  it('a branch of changed code is written from the recording, and read back as what was asked', async () => {
    const code = { prompt: 'Be brief.' }
    const arm = await control(code, accepted)
    const { branch } = await forkTape(tape, agentOf(code), { keep: 3, tail: { from: 'tape' }, control: arm })
    expect(branch.tape.header.parent).toMatchObject({ digest: tape.digest, events: 1 })
    const read = parseTape(branch.text, join(dir, 'branch.tape.jsonl'))
    expect(JSON.stringify(stepsOf(read)[1])).toContain('Be brief.')
    expect(stepsOf(read)).toHaveLength(3)
  })

  it("kept steps need not be taken where today's code leaves them out", async () => {
    const code = { leavesNoteOut: true }
    const arm = await control(code, green)
    const run = await forkTape(tape, agentOf(code), { keep: 3, tail: { from: 'tape' }, control: arm })
    expect(run.problems).toEqual([])
    expect(run.isInert).toBe(true)
  })

  it('a question that nobody accepted is no control', async () => {
    const error = await control({ prompt: 'Be brief.' }).catch((thrown: Error) => thrown.message)
    expect(
      `${error as string}`.replaceAll(tape.header.id, 'ID').replace(/at .*\n/, 'at HERE\n'),
    ).toMatchInlineSnapshot(`
      "The question to a model changed: no change can be judged

        tape  ID
        at HERE

        system prompt, step 2: Be [-kind-] {+brief+}.

      A what-if is compared with an unchanged run of the same code.
      → if it went wrong, make it a case: npx vitest-harvest promote ID --as '<id>' --expect fail --unverified
      → if it went right, make it a case: npx vitest-harvest promote ID --as '<id>' --unverified
      → accept the change there and name the case instead of the tape: npx vitest-harvest accept '<id>' --reason "…"
      → to exclude such changes from the verdict: drift: { instructions: 'report' }
      → if its code did not change, to find what its runs depend on: npx vitest-harvest doctor ID
      (HARVEST_CONTROL)"
    `)
  })

  it('code that asks what nobody recorded is no control', async () => {
    const error = await control({ asksAgain: true }, { caseId: 'refund-1' }).catch((thrown: Error) => thrown.message)
    expect(
      `${error as string}`.replaceAll(url.slice(7), 'HOST').replace(/at .*\n/, 'at HERE\n'),
    ).toMatchInlineSnapshot(`
      "The control run differs from its tape, so no change can be judged

        case  refund-1
        at HERE

      The agent threw TypeError: fetch failed
      The agent made a request more often than recorded: POST HOST/v1/chat/completions
        differs at messages[1].content
        recorded  total 25
        now       really?

      A what-if is compared with an unchanged run of the same code.
      → to see the whole difference: npx vitest-harvest show refund-1 --replay
      → once its key and environment are right: the same command
      (HARVEST_CONTROL)"
    `)
  })

  it('code that goes without its model is no control', async () => {
    const error = await controlOf(tape, { load: () => Promise.resolve(() => 'nothing') }).catch(
      (thrown: Error) => thrown,
    )
    expect(error).toMatchObject({ code: 'HARVEST_CONTROL', cause: { code: 'HARVEST_UNUSED' } })
  })

  it('the pin of an unchanged run is another one as soon as what it does or comes to is', async () => {
    const digests = await Promise.all(
      [{}, changed, { leavesNoteOut: true }].map(async (code) => (await control(code, green)).digest),
    )
    expect(new Set(digests).size).toBe(3)
    expect((await control({ prompt: 'Be brief.' }, accepted)).digest).toBe(digests[0])
    expect((await fork(tape, { agent: agentOf({}) })).comparison.outcomeEqual).toBe(true)
  })
})
