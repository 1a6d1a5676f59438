import http from 'node:http'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createHash } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import OpenAI from 'openai'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { pinnedConstants } from '../../src/cli/pinned-constants.ts'
import { createRecorder, mark, message, type RecorderOptions, tool } from '../../src/record/index.ts'
import { installReplay, type ReplayOptions, replayTape, type ReplayResult } from '../../src/replay/index.ts'
import { readTape, type Tape } from '../../src/tape/index.ts'

const key = 'Zm9yLXRlc3RzLW9ubHktbm90LWEtc2VjcmV0LWtleQ=='
const otherKey = 'YW5vdGhlci1vbmUtZm9yLXRlc3RzLW9ubHktb2YtMzI='
const dir = mkdtempSync(join(tmpdir(), 'harvest-redacted-values-'))
const server = http.createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
  request.resume().on('end', () => {
    response.setHeader('content-type', 'application/json')
    const chat = { choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'ok' } }] }
    const body = { '/customer': { email: 'anna@shop.example' }, '/v1/chat/completions': chat }[request.url ?? '']
    response.end(JSON.stringify(body ?? { ok: true }))
  })
})
let base = ''
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  await installReplay()
})
afterEach(() => vi.unstubAllEnvs())
afterAll(() => {
  server.closeAllConnections()
  server.close()
  rmSync(dir, { recursive: true, force: true })
})

type Agent = () => Promise<unknown>

let recordings = 0

async function tapeOf(agent: Agent, recordedWith: string | undefined, options: RecorderOptions = {}): Promise<Tape> {
  vi.stubEnv('HARVEST_FINGERPRINT_KEY', recordedWith)
  const recorder = createRecorder({ dir, ...options })
  await recorder.run({ agent: 'a', id: `run-${++recordings}` }, agent)
  return readTape(recorder.lastTape!)
}

async function replayed(tape: Tape, agent: Agent, withKey: string | undefined, options?: ReplayOptions) {
  vi.stubEnv('HARVEST_FINGERPRINT_KEY', withKey)
  return replayTape(tape, agent, options)
}

function told({ drift, problems, notCompared }: ReplayResult): readonly string[] {
  return [
    ...drift.map((one) => `${one.class} at step ${one.stepNumber}, ${one.path}: ${one.recorded} → ${one.live}`),
    ...problems.map(({ code }) => code),
    ...notCompared.map(({ kind, stepNumber, path, why }) => `${kind} at step ${stepNumber ?? '?'}, ${path}: ${why}`),
  ]
}

const post = async (path: string, body: unknown): Promise<unknown> =>
  (await fetch(base + path, { method: 'POST', body: JSON.stringify(body) })).json()

const mailTo =
  (...addresses: readonly string[]): Agent =>
  async () => {
    for (const to of addresses) await post('/mail', { subject: 'Hello', to })
  }

describe('a value the agent brings itself', () => {
  test('is the recorded one, with the key', async () => {
    const tape = await tapeOf(mailTo('anna@shop.example', 'bob@shop.example'), key)
    for (const anna of ['anna@shop.example', 'Anna@Shop.Example'])
      expect(told(await replayed(tape, mailTo(anna, 'bob@shop.example'), key))).toEqual([])
  })

  test('is another one, with the key, wherever it stands', async () => {
    const to = 'anna@shop.example'
    const chat = (address: string) => async () => {
      const client = new OpenAI({ apiKey: 'k', baseURL: `${base}/v1` })
      const messages = [{ role: 'user' as const, content: `Write to ${address}.` }]
      await client.chat.completions.create({ model: 'm', messages })
    }
    const send = tool('send', async (_: { to: string }) => 'sent')
    const places: readonly (readonly [string, string, (value: string) => Agent])[] = [
      ['body.to', to, (value) => mailTo(value)],
      ['body.messages[0].content', to, chat],
      ['args.to', to, (value) => () => send({ to: value })],
      ['url', to, (value) => () => post(`/mail?to=${encodeURIComponent(value)}`, {})],
      ['body.card', '4111 1111 1111 1111', (value) => () => post('/pay', { card: value })],
      ['body.iban', 'DE89 3704 0044 0532 0130 00', (value) => () => post('/pay', { iban: value })],
      ['body.customer', 'KD-11112222', (value) => () => post('/pay', { customer: value })],
    ]
    const others: Readonly<Record<string, string>> = {
      [to]: 'mallory@evil.example',
      '4111 1111 1111 1111': '5555 5555 5555 4444',
      'DE89 3704 0044 0532 0130 00': 'GB82 WEST 1234 5698 7654 32',
      'KD-11112222': 'KD-33334444',
    }
    const redact = { rules: [{ kind: 'customer', pattern: /KD-\d{8}/g }] }
    for (const [path, value, agent] of places) {
      const tape = await tapeOf(agent(value), key, { redact })
      expect(told(await replayed(tape, agent(value), key))).toEqual([])
      const { drift, notCompared } = await replayed(tape, agent(others[value]!), key)
      expect(drift).toMatchObject([{ class: 'redacted', stepNumber: 1, path }])
      expect(notCompared).toEqual([])
      expect(JSON.stringify(drift)).not.toContain(others[value])
      expect(JSON.stringify(drift)).not.toContain(value)
    }
  })

  test('is another one at the end of a run, in a mark and in a message', async () => {
    const agent = (address: string) => async () => {
      mark('told', { address })
      message('desk', 'mail', `b${address}`)
      await post('/mail', {})
      return `c${address}`
    }
    const tape = await tapeOf(agent('anna@shop.example'), key)
    expect(told(await replayed(tape, agent('anna@shop.example'), key))).toEqual([])
    const { drift } = await replayed(tape, agent('eve@shop.example'), key)
    expect(drift.map(({ path }) => path)).toEqual(['mark told.address', 'message to mail', 'outcome'])
  })

  test('is recognised where an answer brought it before', async () => {
    const agent = (address: string) => async () => {
      const { email } = (await (await fetch(`${base}/customer`)).json()) as { email: string }
      await post('/mail', { customer: email, copy: address })
    }
    const tape = await tapeOf(agent('anna@shop.example'), key)
    expect(told(await replayed(tape, agent('anna@shop.example'), key))).toEqual([])
    const { problems } = await replayed(tape, agent('eve@shop.example'), key)
    expect(problems[0]).toMatchObject({ code: 'HARVEST_DIVERGENCE' })
  })

  test('cannot be compared without the key, with another one, or where none was there to record: that is said with its place', async () => {
    const agent = mailTo('anna@shop.example')
    const tape = await tapeOf(agent, key)
    const id = tape.header.printed?.key
    for (const address of ['anna@shop.example', 'mallory@evil.example']) {
      for (const [recorded, live, why] of [
        [tape, undefined, `no HARVEST_FINGERPRINT_KEY with the id ${id} here`],
        [tape, otherKey, `no HARVEST_FINGERPRINT_KEY with the id ${id} here`],
        [await tapeOf(agent, undefined), key, 'recorded without HARVEST_FINGERPRINT_KEY'],
      ] as const) {
        const place = `email at step 1, body.to: ${why}`
        expect(told(await replayed(recorded, mailTo(address), live))).toEqual([place])
        expect(told(await replayed(recorded, mailTo(address), live, { redacted: 'fail' }))).toEqual([
          `redacted at step 1, body.to: redacted-1@email.invalid → not compared: ${why}`,
          place,
        ])
      }
    }
  })

  test('is compared by each of several keys, the first of which writes', async () => {
    const agent = mailTo('anna@shop.example')
    const tape = await tapeOf(agent, `${key} ${otherKey}`)
    for (const keys of [key, `${otherKey},${key}`]) expect(told(await replayed(tape, agent, keys))).toEqual([])
    expect((await replayed(tape, agent, otherKey)).notCompared).toHaveLength(1)
  })
})

test('two customers who change places are told apart without a key', async () => {
  const order = async (to: string, customer: string) => post('/mail', { to, about: customer })
  const agent = (swapped: boolean) => async () => {
    await post('/customers', ['anna@shop.example', 'bob@shop.example'])
    await order(swapped ? 'bob@shop.example' : 'anna@shop.example', 'anna@shop.example')
  }
  const tape = await tapeOf(agent(false), undefined)
  expect((await replayed(tape, agent(false), undefined)).problems).toEqual([])
  expect((await replayed(tape, agent(true), undefined)).problems[0]).toMatchObject({ code: 'HARVEST_DIVERGENCE' })
})

test('passwords and keys are not compared: another one in the same place is the same', async () => {
  const login = (password: string) => () => post('/login', { user: 'anna', password })
  const tape = await tapeOf(login('first-word-9'), key)
  expect(told(await replayed(tape, login('second-word-8'), key, { redacted: 'fail' }))).toEqual([])
  expect(JSON.stringify(tape)).not.toContain('prints')
})

test('a tape holds no byte of what was redacted, of a digest of it that needs no key, or of the key', async () => {
  const secrets = ['anna@shop.example', '4111111111111111', 'DE89370400440532013000', 'KD-11112222']
  const agent = () => post('/all', Object.fromEntries(secrets.map((secret, at) => [`f${at}`, secret])))
  const redact = { rules: [{ kind: 'customer', pattern: /KD-\d{8}/g }] }
  const tapes = [await tapeOf(agent, key, { redact }), await tapeOf(agent, key, { redact })]
  const forms = secrets.flatMap((secret) => [
    secret,
    ...['sha256', 'sha1', 'md5', 'sha512'].flatMap((name) =>
      [secret, `harvest print 1\0${secret}`].flatMap((text) =>
        (['hex', 'base64', 'base64url'] as const).map((encoding) =>
          createHash(name).update(text).digest().subarray(0, 9).toString(encoding),
        ),
      ),
    ),
  ])
  const texts = tapes.map(({ source }) => readFileSync(source, 'utf8'))
  for (const text of texts) for (const form of [...forms, key, key.slice(0, 12)]) expect(text).not.toContain(form)
  // Nobody without the key sees that two tapes are about one person.
  const prints = tapes.map(({ events }) => events.flatMap((event) => event.prints ?? []))
  expect(prints.map(({ length }) => length)).toEqual([4, 4])
  expect(new Set(prints.flat().map(([, print]) => print)).size).toBe(8)
})

test('a key that is too short is refused, and not shown', async () => {
  vi.stubEnv('HARVEST_FINGERPRINT_KEY', `${key},short-key`)
  expect(() => createRecorder({ dir })).toThrowErrorMatchingInlineSnapshot(`
    [HarvestError: The key for fingerprints is too short

      variable  HARVEST_FINGERPRINT_KEY
      key       number 2 of 2
      least     32 characters

    With a guessed key, redacted addresses can be guessed too.
    → openssl rand -base64 32
    (HARVEST_PRIVACY_OPTION)]
  `)
})

test('a message about a redacted value says where it stands, and neither value', async () => {
  const tape = await tapeOf(mailTo('anna@shop.example'), key)
  const { problems } = await replayed(tape, mailTo('eve@evil.example'), key, { drift: { redacted: 'fail' } })
  expect(problems[0]?.message.replaceAll(/^  (?:tape|at) .*\n/gm, '').replaceAll(base, '…')).toMatchInlineSnapshot(`
    "The agent sent another value where the tape has a placeholder: body.to

      step  1

      changed  [-redacted-1@email.invalid-] {+another email+}

    The tape holds a placeholder and the keyed fingerprint of its value, which is not that of the value sent now.
    → to see the recorded step: npx vitest-harvest show run-19 --step 1
    → if the new behaviour is right: record the run again and promote the new tape
    → if such a change is harmless: drift: { redacted: 'report' }
    (HARVEST_DRIFT)"
  `)
})

describe('a value that stands in the source as it is', () => {
  const anna = 'anna@shop.example'
  const constants = { 'redacted-1@email.invalid': anna }

  test('is compared without a key, and others are not', async () => {
    for (const recordedWith of [key, undefined]) {
      const tape = await tapeOf(mailTo(anna, 'bob@shop.example'), recordedWith)
      const same = await replayed(tape, mailTo(anna, 'bob@shop.example'), undefined, { constants })
      expect(same.drift).toEqual([])
      expect(same.notCompared).toMatchObject([
        { placeholder: 'redacted-2@email.invalid', stepNumber: 2, path: 'body.to' },
      ])
      const other = await replayed(tape, mailTo('eve@evil.example', 'bob@shop.example'), undefined, { constants })
      expect(other.drift).toMatchObject([{ class: 'redacted', stepNumber: 1, path: 'body.to', policy: 'unproven' }])
    }
  })

  test('is found in a file under version control, with the key alone', async () => {
    const repository = mkdtempSync(join(dir, 'repository-'))
    const git = (...args: string[]) => execFileSync('git', args, { cwd: repository })
    git('init', '--quiet')
    writeFileSync(join(repository, 'agent.ts'), `export const desk = 'Anna@shop.example'\n`)
    writeFileSync(join(repository, 'notes.txt'), 'bob@shop.example\n')
    git('add', 'agent.ts')
    const { source } = await tapeOf(mailTo(anna, 'bob@shop.example'), key)
    expect(await pinnedConstants(source, repository)).toEqual({ 'redacted-1@email.invalid': 'Anna@shop.example' })
    vi.stubEnv('HARVEST_FINGERPRINT_KEY', otherKey)
    expect(await pinnedConstants(source, repository)).toEqual({})
    vi.stubEnv('HARVEST_FINGERPRINT_KEY', undefined)
    expect(await pinnedConstants(source, repository)).toEqual({})
  })
})
