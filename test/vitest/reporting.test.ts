import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { VerdictName } from '../../src/replay/index.ts'
import { type CaseResult, failures, totals } from '../../src/vitest/summary.ts'
import { noCasesCollected, notCollected, obsoleteTapes, surveyRecordings } from '../../src/vitest/survey.ts'
import { textHash, writeUpdates } from '../../src/vitest/write-updates.ts'

function folder(files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(path.join(tmpdir(), 'vitest-harvest-test-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(root, file)), { recursive: true })
    writeFileSync(path.join(root, file), text)
  }
  return root
}

const codesFile = path.resolve(import.meta.dirname, '../../src/errors/codes.ts')
const codes = [...readFileSync(codesFile, 'utf8').matchAll(/'(HARVEST_\w+)'/g)].map(([, code = '']) => code)

describe('the summary', () => {
  const result = (
    name: string,
    state: CaseResult['state'],
    report: object,
    more: Partial<CaseResult> = {},
  ): CaseResult => ({
    name,
    state,
    report: { case: name, ...report },
    ...more,
  })
  const red = (name: string, code: string, verdict?: VerdictName): CaseResult =>
    result(
      name,
      'failed',
      { code, ...(verdict && { verdict }) },
      { failure: { message: `${name} was red\n\nfor some reason` } },
    )

  it('says how many held, drifted, moved and escaped', () => {
    const lines = totals([
      result('a', 'passed', {
        drift: { encoding: 2 },
        pins: ['commit 4f2a → 9c1b'],
        notCompared: { email: 2, 'order of steps': 1 },
        steps: { drift: { encoding: [1, 2] }, notCompared: { email: [3] } },
        paths: { email: ['body.to', 'body.cc'], 'order of steps': ['imported from nock'] },
      }),
      result('b', 'passed', {
        expect: 'fail',
        drift: { encoding: 1, bookkeeping: 1, instructions: 1 },
        pins: ['commit 4f2a → 9c1b'],
      }),
      result('c', 'failed', { expect: 'pass', escapes: 1, code: 'HARVEST_ESCAPE' }),
      result('d', 'failed', { code: 'HARVEST_TRACE', verdict: 'different' }),
      red('e', 'HARVEST_CASE_NO_LONGER_FAILS'),
      red('f', 'HARVEST_TAPE_TAMPERED'),
      result('g', 'passed', { expect: 'pass', updated: 'all' }, { isUpdated: true }),
      result('h', 'skipped', {}),
    ])
    expect(lines.map(([label, text]) => `${label}: ${text}`)).toEqual([
      'Recordings: 1 replayed, 1 known bad reproduced, 1 escaped, 1 diverged, 1 no longer reproduced, 1 failed, 1 updated',
      'Drift: encoding 3, bookkeeping 1 (a steps 1, 2; b)',
      'Redacted: not compared: email 2 (a step 3: body.to, body.cc)',
      'Order: not compared: order of steps 1 (a: imported from nock)',
      'Pins: commit 4f2a → 9c1b (a; b)',
      'Escapes: 1',
    ])
  })

  it.each(codes)('counts a red case with %s by its verdict, wherever it was judged', (code) => {
    const own = new Map([
      ['HARVEST_ESCAPE', 'escaped'],
      ['HARVEST_CASE_NO_LONGER_FAILS', 'no longer reproduced'],
    ]).get(code)
    const kinds = [
      ['different', own ?? 'diverged'],
      ['unproven', own ?? 'unproven'],
      [undefined, own ?? 'failed'],
    ] as const
    for (const [verdict, kind] of kinds)
      expect(totals([result('a', 'failed', { code, ...(verdict && { verdict }) })])[0]).toEqual([
        'Recordings',
        `0 replayed, 1 ${kind}`,
      ])
  })

  it('is silent when no case ran', () => {
    expect(totals([result('e', 'skipped', {})])).toEqual([])
    // A known-bad case that was updated is both, and no replayed one less.
    const known = { ...result('a', 'passed', { expect: 'fail' }), isUpdated: true }
    expect(totals([known, result('b', 'passed', {})])[0]).toEqual([
      'Recordings',
      '1 replayed, 1 known bad reproduced, 1 updated',
    ])
  })

  it('names the nine worst cases in one line each, and how many more there are', () => {
    const many = Array.from({ length: 11 }, (_, at) =>
      red(`golden/${String.fromCodePoint(97 + at)}`, 'HARVEST_TRACE', 'different'),
    )
    const site = { file: '/p/src/agent.ts', line: 3, column: 7 }
    const worst = result(
      'golden/z',
      'failed',
      { code: 'HARVEST_ESCAPE' },
      { failure: { message: 'out it went', site } },
    )
    const lines = failures([...many, red('golden/0', 'HARVEST_TAPE_EMPTY'), worst], (file) => file.replace('/p/', ''))
    expect(lines.map(([label, text]) => `${label.padStart(4)}  ${text}`).join('\n')).toMatchInlineSnapshot(`
      " Red  golden/z  out it went
              src/agent.ts:3:7
            golden/a  golden/a was red
            golden/b  golden/b was red
            golden/c  golden/c was red
            golden/d  golden/d was red
            golden/e  golden/e was red
            golden/f  golden/f was red
            golden/g  golden/g was red
            golden/h  golden/h was red
            and 4 more"
    `)
  })
})

describe('the survey of a recordings folder', () => {
  it('finds tapes without a case and ids given twice, and does not look into the inbox', () => {
    const root = folder({
      'golden/a.case.yaml': 'case: a\ntape: a.tape.jsonl\n',
      'golden/sub/b.case.yaml': 'case: a\ntape: b.tape.jsonl\n',
      'golden/a.tape.jsonl': '',
      'golden/b.tape.jsonl': '',
      'golden/sub/b.tape.jsonl': '',
      'inbox/c.tape.jsonl': '',
    })
    expect(surveyRecordings(root)).toEqual({
      isEmpty: false,
      cases: ['golden/a.case.yaml', 'golden/sub/b.case.yaml'],
      obsolete: ['golden/b.tape.jsonl'],
      duplicates: [{ id: 'a', files: ['golden/a.case.yaml', 'golden/sub/b.case.yaml'] }],
    })
    expect(surveyRecordings(path.join(root, 'nowhere')).isEmpty).toBe(true)
  })

  it('tells what it found', () => {
    const survey = { isEmpty: false, cases: ['golden/a.case.yaml'], obsolete: [], duplicates: [] }
    expect(noCasesCollected(survey, 'recordings').message).toMatchInlineSnapshot(`
      "No case of the recordings folder ran

        folder  recordings
        cases   1 on disk, 0 collected

      The Vitest config excludes them: \`exclude\`, \`dir\`, or \`recordings\` with another folder.
      → compare harvest({ recordings }) and test.exclude in vitest.config.ts with the folder
      (HARVEST_NO_CASES)"
    `)
    expect(
      obsoleteTapes(
        Array.from({ length: 11 }, (_, i) => `golden/${i}.tape.jsonl`),
        'recordings',
      ).message,
    ).toContain('and 2 more')
    expect(
      notCollected(['golden/a.case.yaml', 'golden/\u001b[2J.case.yaml'], 'recordings').message,
    ).toMatchInlineSnapshot(`
      "A case in the recordings folder was not run

        cases  recordings/golden/a.case.yaml
               recordings/golden/\\x1b[2J.case.yaml

      The Vitest config or arguments exclude it, or the report of a shard is missing.
      → compare test.exclude in vitest.config.ts with the name of the case
      → after shards: look in their logs for a worker that ended
      (HARVEST_CASE_NOT_COLLECTED)"
    `)
  })
})

describe('writing updates', () => {
  it('writes what changed, in one step, and leaves nothing else behind', () => {
    const root = folder({ 'a.case.yaml': 'old', 'same.case.yaml': 'same' })
    const update = (name: string, before: string, text: string) => ({
      file: path.join(root, name),
      before: textHash(before),
      text,
    })
    const result = writeUpdates([update('a.case.yaml', 'old', 'new'), update('same.case.yaml', 'same', 'same')])
    expect(result).toEqual({ written: [path.join(root, 'a.case.yaml')], skipped: [] })
    expect([readFileSync(path.join(root, 'a.case.yaml'), 'utf8'), readdirSync(root).sort()]).toEqual([
      'new',
      ['a.case.yaml', 'same.case.yaml'],
    ])
  })

  it('leaves a file alone that somebody edited or deleted meanwhile', () => {
    const root = folder({ 'a.case.yaml': 'edited' })
    const files = ['a.case.yaml', 'gone.case.yaml'].map((name) => path.join(root, name))
    const result = writeUpdates(files.map((file) => ({ file, before: textHash('old'), text: 'new' })))
    expect(result).toEqual({ written: [], skipped: files })
    expect(readFileSync(path.join(root, 'a.case.yaml'), 'utf8')).toBe('edited')
  })
})
