import { readFileSync, writeFileSync } from 'node:fs'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRecorder } from '../../src/record/index.ts'
import { serializeTape } from '../../src/tape/index.ts'
import { importRecording } from '../../src/importers/index.ts'
import { startOrigin } from '../record/origin.ts'
import { asked, samples, url } from '../importers/samples.ts'
import { deskProject, openDesk, recordDesk, usual } from './desk.ts'
import { type Answered, scratch, warmHarvest as harvest } from './harvest.ts'
import { recordRefund, refundAgent } from './tapes.ts'

let tape: string
beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'harvest-replay-agent-'))
  tape = await recordRefund(folder)
  return () => rmSync(folder, { recursive: true, force: true })
})

describe('harvest replay --agent', () => {
  it('runs the agent from the tape and says that it held', async () => {
    const answered = await harvest(['replay', tape, '--agent', refundAgent])
    // The tape names a commit that this repository never had.
    expect(answered.stderr).toMatch(/^since it was recorded: commit +4f2a9c1 → /)
    expect({ ...answered, stderr: said(answered.stderr) }).toEqual({
      code: 0,
      stdout: '',
      stderr: 'harvest: refund-100x: same; 3 of 3 steps served\n',
    })
  })

  it('another system prompt is unproven: exit code 1, with the change, its key and the drift by class', async () => {
    const { code, stderr } = await harvest(['replay', tape, '--agent', refundAgent], {
      env: { REFUND_PROMPT: 'Be kind.' },
    })
    expect(stderr).toContain('  changed  Be [-fair-] {+kind+}.')
    expect(stderr).toContain('→ if it went right, make it a case: npx vitest-harvest promote ')
    expect(said(stderr)).toMatch(/\nharvest: refund-100x: unproven; 3 of 3 steps served; drift: 2 instructions\n$/)
    expect(code).toBe(1)
  })

  it('an agent that asks once more ends with exit code 1 and the place', async () => {
    const { code, stderr } = await harvest(['replay', tape, '--agent', refundAgent], { env: { REFUND_TWICE: '1' } })
    expect(code).toBe(1)
    expect(stderr).toContain('(HARVEST_TAPE_EXHAUSTED)')
    expect(stderr).toMatch(/at +test\/cli\/refund-agent\.ts:\d+/)
    expect(stderr).toContain('harvest: refund-100x: different; 3 of 3 steps served')
  })

  it.each([
    ['lookup_order', 'HARVEST_RUN_OVER', 'called tool lookup_order after it returned'],
    ['throw', 'HARVEST_UNCAUGHT_EXCEPTION', 'TypeError: too late'],
    ['reject', 'HARVEST_UNHANDLED_REJECTION', 'TypeError: too late'],
  ])('what an agent does after it returned is exit code 1 with its cause: %s', async (what, code, said) => {
    const run = await harvest(['replay', tape, '--agent', refundAgent], { env: { REFUND_AFTER: what } })
    expect([run.code, run.stderr]).toEqual([1, expect.stringContaining(`(${code})`)])
    expect(run.stderr).toContain(said)
    expect(run.stderr).toContain('harvest: refund-100x: different; 3 of 3 steps served')
  })

  it('a stricter rung of the ladder refuses what was reworded', async () => {
    const { code } = await harvest(['replay', tape, '--agent', refundAgent, '--serve', 'exact'], {
      env: { REFUND_PROMPT: 'Be kind.' },
    })
    expect(code).toBe(1)
    const unknown = await harvest(['replay', tape, '--agent', refundAgent, '--serve', 'exactly'])
    expect(unknown.code).toBe(2)
    expect(unknown.stderr).toContain('expected exact, canonical, conversation or reworded')
  })

  it('--json gives the report alone on stdout', async () => {
    const { code, stdout } = await harvest(['replay', tape, '--agent', refundAgent, '--json'])
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      held: true,
      problems: [],
      escapes: [],
      unused: [],
      comparison: { recorded: 3, served: 3, identical: 3 },
    })
  })

  it('an import says nothing of what nobody recorded, and names the input it lacks', async () => {
    const dir = scratch()
    const agent = join(dir, 'agent.mjs')
    writeFileSync(
      agent,
      `export const ask = async (body = 'nothing') =>
         (await fetch('${url}', { method: 'POST', headers: { 'content-type': 'application/json' }, body })).text()`,
    )
    const replayed = async (id: string, given: { readonly input?: { readonly value: unknown } }): Promise<Answered> => {
      const { header, events, close } = importRecording({
        file: 'x',
        bytes: Buffer.from(samples.vcrpy),
        id,
        agent: 'desk',
        ...given,
      })
      const file = join(dir, `${id}.tape.jsonl`)
      writeFileSync(file, serializeTape(header, events, close))
      return harvest(['replay', file, '--agent', `${agent}#ask`])
    }
    const held = await replayed('held', { input: { value: asked } })
    expect(held).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(
        /^imported from .*\nharvest: held: same; 1 of 1 steps served; outcome: not compared \(the import did not see it\)\n$/,
      ),
    })
    const bare = await replayed('bare', {})
    expect(bare).toMatchObject({ code: 1, stderr: expect.stringContaining('the agent was called without an input; ') })
  })

  it('a tape that does not say what to run asks for the agent', async () => {
    const { code, stderr } = await harvest(['replay', tape], { cwd: scratch() })
    expect(code).toBe(2)
    expect(stderr).toContain(`npx vitest-harvest replay ${tape} --module ./src/agent.ts#refund`)
  })

  it('an agent that is not there is named, with the exports that are', async () => {
    const { code, stderr } = await harvest(['replay', tape, '--agent', refundAgent.replace('#refundAgent', '#refund')])
    expect(code).toBe(2)
    expect(stderr).toContain("exports no function 'refund'")
    expect(stderr).toContain('exports  refundAgent')
    const missing = await harvest(['replay', tape, '--agent', './nowhere.ts#refund'])
    expect(missing.code).toBe(2)
    expect(missing.stderr).toContain('The agent could not be loaded')
    expect(missing.stderr).not.toContain('node:internal')
  })
})

describe('harvest verify --agent', () => {
  it('prints a receipt when not a byte differs', async () => {
    const { code, stdout } = await harvest(['verify', tape, '--agent', refundAgent])
    expect(said(stdout)).toMatchInlineSnapshot(`
      "                                             recorded  replayed
      steps served                                        3         3  ✓
      request bodies and arguments, byte for byte         3         3  ✓
      steps never asked for                               0         0  ✓
      clock, random and id reads                          1         1  ✓
      answers out of recorded order                       0         0  ✓
      escapes                                             0         0  ✓
      problems                                            0         0  ✓
      values not compared                                 0         0  ✓
      answer of the agent                          recorded  recorded  ✓

      refund-100x: same; bit-exact
      "
    `)
    expect(code).toBe(0)
  })

  it('another system prompt is exit code 1, and the row says which', async () => {
    const { code, stdout } = await harvest(['verify', tape, '--agent', refundAgent], {
      env: { REFUND_PROMPT: 'Be kind.' },
    })
    expect(code).toBe(1)
    expect(stdout).toMatch(/request bodies and arguments, byte for byte +3 +[012] +✗/)
    expect(stdout).toContain('refund-100x: unproven; not bit-exact')
  })
})

it('what an agent writes, and that a body is cut, is said by replay, exact or not, and by blame', {
  tags: 'thorough',
}, async () => {
  const dir = scratch()
  const agent = join(dir, 'agent.mjs')
  writeFileSync(
    agent,
    `import { writeFileSync } from 'node:fs'
export async function ask(url) {
  writeFileSync('scratch.txt', 'notes')
  const { body } = await fetch(url)
  const reader = body.getReader()
  await reader.read()
  await reader.cancel()
}`,
  )
  const origin = await startOrigin()
  const recorder = createRecorder({ dir, bodies: { maxMegabytes: 0.1 } })
  const read = async (url: string): Promise<void> => {
    await (await fetch(url)).text()
  }
  const input = `${origin.base}/bytes?2000000`
  // The whole answer is heard, and its middle not kept.
  await recorder.run({ agent: 'a', id: 'writes', input }, () => read(input))
  origin.close()
  const tape = recorder.lastTape!
  const grade = /partial: 1 body is cut/
  const plain = await harvest(['replay', tape, '--agent', `${agent}#ask`], { cwd: dir })
  expect(plain.stderr).toMatch(/let through: fs\.writeFileSync \S*scratch\.txt \(agent\.mjs:3:3\)/)
  const exact = await harvest(['verify', tape, '--agent', `${agent}#ask`], { cwd: dir })
  expect(exact.stdout).toMatch(/let through: fs\.writeFileSync \S*scratch\.txt \(agent\.mjs:3:3\)/)
  expect(exact.stdout).toMatch(grade)
  const json = await harvest(['replay', tape, '--agent', `${agent}#ask`, '--json'], { cwd: dir })
  expect(JSON.parse(json.stdout)).toMatchObject({
    listed: [{ kind: 'write', target: expect.stringContaining('scratch.txt') }],
  })
  const blamed = await harvest(['blame', tape, '--ok', 'x=1', '--dry-run'], { cwd: dir })
  expect(blamed.stderr).toMatch(grade)
})

describe('a tape that was changed', () => {
  it.each([
    ['one letter', (text: string) => text.replace('Refund this', 'Refuse this'), 'HARVEST_TAPE_TAMPERED'],
    ['no last line', (text: string) => text.replace(/\n[^\n]+\n$/, '\n'), 'HARVEST_TAPE_TRUNCATED'],
    ['another format', (text: string) => text.replace('"harvest":1', '"harvest":9'), 'HARVEST_TAPE_VERSION'],
  ])('%s: verify refuses it with exit code 3', async (_, change, code) => {
    const changed = join(scratch(), 'changed.tape.jsonl')
    const text = readFileSync(tape, 'utf8')
    expect(change(text)).not.toBe(text)
    writeFileSync(changed, change(text))
    const answered = await harvest(['verify', changed, '--agent', refundAgent])
    expect(answered.stderr).toContain(`(${code})`)
    expect(answered).toMatchObject({ code: 3, stdout: '' })
  })
})

/** Without what has changed since the recording: that depends on the commit these tests run at. */
function said(text: string): string {
  return text.replaceAll(/^since it was recorded: .*\n/gm, '')
}

it('of a case, what an update accepted is the same for replay as for test, and nothing beside it', {
  tags: 'thorough',
}, async () => {
  const desk = await openDesk(usual)
  const cwd = deskProject()
  onTestFinished(async () => {
    rmSync(cwd, { recursive: true, force: true })
    await desk.close()
  })
  const run = (...args: string[]) =>
    harvest(args, { cwd, env: { DESK_URL: desk.url, CI: '', HARVEST_ALLOW_CI_UPDATE: '1' } })
  await recordDesk(cwd, desk, 'first', ['Refund A-100.'])
  expect((await run('promote', 'first', '--as', 'refund', '--unverified')).code).toBe(0)
  const file = join(cwd, 'src/desk.ts')
  const code = readFileSync(file, 'utf8')
  const returning = (value: string) => writeFileSync(file, code.replace('return { answer: message.content }', value))
  returning('return { said: message.content }')
  expect((await run('replay', 'refund')).code).toBe(1)
  expect((await run('test', 'refund', '--update-recordings', '--reason', 'another name')).code).toBe(0)
  const accepted = await run('replay', 'refund')
  expect([accepted.code, accepted.stderr]).toEqual([0, expect.stringMatching(/: same; .*; as its case says$/m)])
  const { code: ended, stdout } = await run('replay', 'refund', '--json')
  expect([ended, JSON.parse(stdout)]).toMatchObject([0, { held: true, asCase: true, verdict: { verdict: 'same' } }])
  expect((await run('replay', 'refund', '--exact')).code).toBe(1)
  returning('return { said: message.content, refunded: 4_000 }')
  const [tested, replayed] = [await run('test', 'refund'), await run('replay', 'refund')]
  expect([tested.code, replayed.code]).toEqual([1, 1])
})
