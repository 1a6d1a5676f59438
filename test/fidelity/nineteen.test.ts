import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AgentInput } from '../../fixtures/agents/index.ts'
import { runInChild } from '../../fixtures/child/index.ts'
import { withProvider } from '../../fixtures/provider/index.ts'
import { installReplay, replayTape } from '../../src/replay/index.ts'
import type { ReplayOptions, ReplayResult } from '../../src/match/types.ts'
import { readTape, responseBytes, stepsOf } from '../../src/tape/index.ts'
import type { NineteenRecordings } from './nineteen/record.child.ts'

type Agents = typeof import('./nineteen/agents.ts')

// What a regression harvester must do, as checks other recorders were measured with. Recorded in a process of its own;
// the provider is gone before the first replay; this file replays as a test of a user would.
describe('nineteen checks', () => {
  let dir = ''
  let recordings: NineteenRecordings = {}
  let agents: Agents
  let clockAndIds: (input: AgentInput) => Promise<unknown>

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'harvest-nineteen-'))
    recordings = await record(dir)
    await installReplay()
    agents = await import('./nineteen/agents.ts')
    clockAndIds = (await import('../../fixtures/agents/clock-and-ids.ts')).agent
  })
  afterAll(() => rm(dir, { recursive: true, force: true }))

  test('1. a JSON answer is the recorded one, byte for byte', async () => {
    await expectSame('rawAnswer', (input) => agents.rawAnswer(input))
  })

  test('2. a stream written in eight pieces is recorded and replayed in eight pieces', async () => {
    const { tape } = await expectSame('streamPieces', (input) => agents.streamPieces(input))
    expect(recordings['streamPieces']?.result).toHaveLength(8)
    const [step] = stepsOf(tape)
    expect(step?.kind === 'exchange' && step.response?.chunks).toHaveLength(8)
  })

  test('3. a changed system prompt is served and reported as drift, and fails when drift must fail', async () => {
    await expectDrift('instructions', 'You sell tea.', 'You sell coffee.', { system: 'You sell coffee.' })
  })

  test('4. a changed tool schema is served and reported as drift, and fails when drift must fail', async () => {
    const change = { toolDescription: 'Weather of a town' }
    await expectDrift('tools', 'Weather of a city', 'Weather of a town', change)
  })

  test('5. a user message that changed without changing its length is not served the old answer silently', async () => {
    const result = await replay('chat', (input) => agents.chat(input, { user: 'I am user 8' }))
    expectUnproven(result, 'I am user 7', 'I am user 8')
  })

  test('6. questions that begin alike are kept apart', async () => {
    await expectSame('twoOrders', (input) => agents.twoOrders(input, ['order 123', 'order 12']), { sameOrder: false })
    const other = await replay('oneOrder', (input) => agents.twoOrders(input, ['order 123']))
    expectUnproven(other, 'order 12', 'order 123')
  })

  test('7. two calls that changed places are a problem', async () => {
    const result = await replay('askInTurn', (input) => agents.askInTurn(input, ['charge it', 'reserve it']))
    expectProblem(result, 'step 1', 'step 2')
    expect(result.problems[0]?.code).toBe('HARVEST_ORDER')
  })

  test('8. a recorded call that is not made any more is a problem', async () => {
    const result = await replay('callInTurn', (input) => agents.callInTurn(input, ['reserve']))
    expectProblem(result, '/tool/charge')
    expect(result.unused).toHaveLength(1)
  })

  test('9. one repeat more than recorded is a problem', async () => {
    const names = ['reserve', 'charge', 'charge']
    const result = await replay('callInTurn', (input) => agents.callAndGoOn(input, names))
    expectProblem(result, '/tool/charge')
    // The agent swallowed the error; the verdict stands all the same.
    expect(result.problems[0]?.code).toBe('HARVEST_TAPE_EXHAUSTED')
  })

  test('10. the same request three times gets the first, second and third answer', async () => {
    await expectSame('thrice', (input) => agents.thrice(input))
    expect(new Set(recordings['thrice']?.result as readonly string[]).size).toBe(3)
  })

  test('11. three parallel calls come back in the recorded order of arrival', async () => {
    await expectSame('threeAtOnce', (input) => agents.threeAtOnce(input))
    expect(recordings['threeAtOnce']?.result).toEqual(['after 5', 'after 120', 'after 240'])
  })

  test('12. an authorization header is not on disk', async () => {
    const text = await readFile(recordings['tellsSecrets']!.tape, 'utf8')
    expect(text).not.toContain(agents.secrets.header)
    await expectSame('tellsSecrets', (input) => agents.tellsSecrets(input))
  })

  test('13. a key and an e-mail address in a body are not on disk', async () => {
    const text = await readFile(recordings['tellsSecrets']!.tape, 'utf8')
    expect(text).not.toContain(agents.secrets.body)
    expect(text).not.toContain(agents.secrets.email)
    const { comparison } = await replay('tellsSecrets', (input) => agents.tellsSecrets(input))
    expect(comparison.identical).toBe(comparison.recorded)
  })

  test('14. node:http, a raw socket and a child process are blocked', async () => {
    let connections = 0
    const server = createServer((_, response) => response.end()).on('connection', () => (connections += 1))
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
    const { port } = server.address() as AddressInfo
    try {
      const byHttp = await replay('idle', () => agents.askByNodeHttp(port))
      expect(byHttp.problems).not.toEqual([])
      const bySocket = await replay('idle', () => emitted(connect(port, '127.0.0.1'), 'connect'))
      expect(bySocket.problems.map(({ code }) => code)).toEqual(['HARVEST_ESCAPE'])
      const byChild = await replay('idle', () => emitted(spawn(process.execPath, ['-e', '0']), 'exit'))
      expect(byChild.problems.map(({ code }) => code)).toEqual(['HARVEST_ESCAPE'])
      expect(connections).toBe(0)
    } finally {
      await new Promise((done) => server.close(done))
    }
  })

  test('15. a recorded answer that was edited is refused', async () => {
    const original = recordings['rawAnswer']!.tape
    const edited = join(dir, 'edited.tape.jsonl')
    const text = await readFile(original, 'utf8')
    await writeFile(edited, text.replace('"tool\\":\\"raw', '"tool\\":\\"RAW'))
    expect(await readFile(edited, 'utf8')).not.toBe(text)
    expect(() => readTape(edited)).toThrow(/digest|changed|edited/)
  })

  test('16. a connection lost in the middle of a stream is lost again', async () => {
    await expectSame('losesConnection', (input) => agents.losesConnection(input))
    expect(recordings['losesConnection']?.result).toMatchObject({ message: 'terminated', code: 'UND_ERR_SOCKET' })
  })

  test('17. clock and ids in a prompt are the recorded ones', async () => {
    await expectSame('clockAndIds', (input) => clockAndIds(input))
  })

  test('18. a 429 and then a 200 are a 429 and then a 200, retry-after included', async () => {
    await expectSame('triesAgain', (input) => agents.triesAgain(input))
    expect(recordings['triesAgain']?.result).toEqual([
      429,
      '2',
      200,
      'no retry-after',
      expect.stringContaining('again'),
    ])
  })

  test('19. a stream the agent leaves after its first bytes is left again', async () => {
    const { tape } = await expectSame('leavesEarly', (input) => agents.leavesEarly(input))
    const [step] = stepsOf(tape)
    expect(step?.kind === 'exchange' && step.aborted).toBeDefined()
    expect(step?.kind === 'exchange' && responseBytes(step).length).toBeGreaterThan(0)
  })

  async function replay<T>(
    id: string,
    agent: (input: AgentInput) => Promise<T>,
    options: ReplayOptions = {},
  ): Promise<ReplayResult<T>> {
    const tape = readTape(recordings[id]!.tape)
    return replayTape(tape, (input) => agent(input as AgentInput), options)
  }

  /** The replay holds in every respect and gives what was recorded. */
  async function expectSame(
    id: string,
    agent: (input: AgentInput) => Promise<unknown>,
    { sameOrder = true } = {},
  ): Promise<ReplayResult> {
    const result = await replay(id, agent)
    expect(result.problems.map(({ message }) => message)).toEqual([])
    expect(result.outcome).toEqual({ status: 'returned', value: recordings[id]?.result })
    expect(result.drift).toEqual([])
    expect(result.escapes).toEqual([])
    expect(result.unused).toEqual([])
    expect(result.comparison.identical).toBe(result.comparison.recorded)
    if (sameOrder) expect(result.comparison.relaxed).toBe(0)
    return result
  }

  /** Something is wrong, and the first problem says what was recorded and what came instead. */
  function expectProblem({ problems }: ReplayResult, ...words: readonly string[]): void {
    expect(problems).not.toEqual([])
    for (const word of words) expect(problems[0]?.message).toContain(word)
  }

  /** It was served so that what follows is seen, and is no proof: such a case is not green. */
  function expectUnproven({ problems, drift }: ReplayResult, recorded: string, live: string): void {
    const refused = problems.some(({ message }) => message.includes(recorded) && message.includes(live))
    const isUnproven = drift.some(
      (one) => one.policy === 'unproven' && one.recorded.includes(recorded) && one.live.includes(live),
    )
    expect(refused || isUnproven).toBe(true)
  }

  async function expectDrift(kind: string, recorded: string, live: string, change: object): Promise<void> {
    const lenient = await replay('chat', (input) => agents.chat(input, change))
    expect(lenient.problems).toEqual([])
    expect(lenient.outcome).toEqual({ status: 'returned', value: recordings['chat']?.result })
    expect(lenient.drift.map((drift) => drift.class)).toEqual([kind])
    expect(lenient.drift[0]?.recorded).toContain(recorded)
    expect(lenient.drift[0]?.live).toContain(live)
    const strict = await replay('chat', (input) => agents.chat(input, change), { drift: 'fail' })
    expect(strict.problems.map(({ code }) => code)).toEqual(['HARVEST_DRIFT'])
    expect(strict.problems[0]?.message).toContain(lenient.drift[0]?.words)
    const otherClass = await replay('chat', (input) => agents.chat(input, change), { drift: { [kind]: 'ignore' } })
    expect(otherClass.problems).toEqual([])
  }
})

function record(dir: string): Promise<NineteenRecordings> {
  return withProvider(async (provider) => {
    const { base, h2base, tlsbase, tlsh2base } = provider
    const job = { dir, input: { base, h2base, tlsbase, tlsh2base } }
    return await runInChild(new URL('./nineteen/record.child.ts', import.meta.url), job)
  })
}

function emitted(
  emitter: { on(event: string, listener: (value: unknown) => void): unknown },
  event: string,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    emitter.on(event, resolve)
    emitter.on('error', reject)
  })
}
