import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { HarvestError } from '../../src/errors/index.ts'
import { subjectTag } from '../../src/privacy/index.ts'
import { createRecorder, type RecorderOptions, tool } from '../../src/record/index.ts'
import { queryTapes } from '../../src/recordings/index.ts'
import { readTape } from '../../src/tape/index.ts'

const key = 'k'.repeat(32)
const other = 'o'.repeat(32)

function recording(keys: string, options: RecorderOptions = {}) {
  vi.stubEnv('HARVEST_SUBJECT_KEY', keys)
  onTestFinished(() => void vi.unstubAllEnvs())
  const folder = mkdtempSync(join(tmpdir(), 'harvest-about-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const inbox = join(folder, 'inbox')
  const warnings: HarvestError[] = []
  const recorder = createRecorder({ dir: inbox, onWarning: (error) => warnings.push(error), ...options })
  const bytes = (): string => {
    recorder.flush()
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    return files.map((file) => readFileSync(join(file.parentPath, file.name), 'latin1')).join('\n')
  }
  const found = async (filter: object): Promise<readonly string[]> => {
    recorder.flush()
    const { tapes } = await queryTapes(folder, { filter })
    return tapes.map(({ file }) => basename(file, '.tape.jsonl'))
  }
  return { recorder, inbox, warnings, bytes, found }
}

const lookup = tool('lookup', (args: { customer: string }) => ({ owner: args.customer, plan: 'pro' }))

describe('the subject of a run', () => {
  test.for([{}, { sample: 0.0001, keep: { tools: ['lookup'] } }])(
    'is found by its tag, and stands nowhere in clear: recorder with %j',
    async (options) => {
      const { recorder, bytes, found, warnings } = recording(`${key} ${other}`, options)
      for (const subject of ['cust_4711', 'Åse Brønn', 'jane@example.com'])
        recorder.run(
          { agent: 'desk', id: `${subject}-1`, subject, input: { from: subject, say: `I am ${subject}.` } },
          () => lookup({ customer: subject }),
        )
      for (const subject of ['cust_4711', 'Åse Brønn', 'jane@example.com']) {
        expect(await found({ subject: [subjectTag(subject, key)] })).toHaveLength(1)
        expect(await found({ text: subject })).toEqual([])
        expect(bytes()).not.toContain(Buffer.from(subject).toString('latin1'))
        expect(bytes()).not.toContain(encodeURIComponent(subject))
      }
      // What is no subject stays as it is.
      expect(bytes()).toContain('"plan":"pro"')
      expect(bytes()).not.toContain(key)
      expect(warnings).toEqual([])
    },
  )

  test('may be several, and has one tag for each whatever the run', () => {
    const { recorder, inbox } = recording(key)
    for (const id of ['a', 'b']) recorder.run({ agent: 'desk', id, subject: ['cust_4711', 'cust_12'] }, () => 1)
    const [a, b] = ['a', 'b'].map((id) => readTape(join(inbox, `${id}.tape.jsonl`)).header.subjects)
    expect(a).toEqual([subjectTag('cust_4711', key), subjectTag('cust_12', key)])
    expect(b).toEqual(a)
    // Published once, never changed: it is how tapes of years are found.
    expect(subjectTag('cust_4711', key)).toBe('s1yOsbrm-QcTjo0xBdAAplPg')
  })

  test('one of fewer than four characters has a tag and is not looked for; of several keys the first writes', () => {
    const { recorder, inbox, bytes } = recording(`${other} ${key}`)
    recorder.run({ agent: 'desk', id: 'a', subject: 'kim', input: 'kim asks' }, () => 1)
    expect(readTape(join(inbox, 'a.tape.jsonl')).header.subjects).toEqual([subjectTag('kim', other)])
    expect(bytes()).toContain('kim asks')
  })

  test('without a key is not written, which is told once', () => {
    const { recorder, bytes, warnings } = recording('')
    for (const id of ['a', 'b']) recorder.run({ agent: 'desk', id, subject: 'cust_4711', input: 'cust_4711' }, () => 1)
    expect(bytes()).not.toContain('cust_4711')
    expect(bytes()).not.toContain('subjects')
    expect(warnings.map(({ code }) => code)).toEqual(['HARVEST_SUBJECT_KEY'])
  })

  test('with a key that can be guessed is refused when the recorder is made', () => {
    expect(() => recording('short')).toThrow('The key for subjects is too short')
  })
})

describe('session and attributes of a run', () => {
  test('are on the tape, redacted, and it is found by them', async () => {
    const { recorder, inbox, found, bytes, warnings } = recording(key)
    recorder.run(
      { agent: 'desk', id: 'a', session: 'chat-1', attributes: { plan: 'pro', seats: 3, mail: 'jane@example.com' } },
      () => 1,
    )
    recorder.run({ agent: 'desk', id: 'b', attributes: { plan: { name: 'pro' } as never } }, () => 1)
    expect(readTape(join(inbox, 'a.tape.jsonl')).header).toMatchObject({
      session: { id: 'chat-1' },
      attributes: { plan: 'pro', seats: 3, mail: 'redacted-1@email.invalid' },
    })
    expect(await found({ session: 'chat-1' })).toEqual(['a'])
    expect(await found({ attributes: { plan: 'pro', seats: 3 } })).toEqual(['a'])
    expect(bytes()).not.toContain('jane@')
    expect(warnings.map(({ facts }) => facts.where?.['attribute'])).toEqual(['plan'])
  })
})
