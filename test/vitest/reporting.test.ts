import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { summarise } from '../../src/vitest/summary.ts'
import { noCasesCollected, obsoleteTapes, surveyRecordings } from '../../src/vitest/survey.ts'
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

describe('the summary', () => {
  it('says how many held, drifted, moved and escaped', () => {
    const lines = summarise([
      {
        state: 'passed',
        report: { case: 'a', expect: 'pass', drift: { instructions: 2 }, pins: ['commit 4f2a → 9c1b'] },
      },
      {
        state: 'passed',
        report: { case: 'b', expect: 'fail', drift: { instructions: 1, params: 1 }, pins: ['commit 4f2a → 9c1b'] },
      },
      { state: 'failed', report: { case: 'c', expect: 'pass', escapes: 1 } },
      { state: 'passed', report: { case: 'd', expect: 'pass', updated: 'all' } },
      { state: 'skipped', report: { case: 'e' } },
    ])
    expect(lines.map(([label, text]) => `${label}: ${text}`)).toEqual([
      'Recordings: 2 replayed, 1 known bad reproduced, 1 failed, 1 updated',
      'Drift: instructions 3, params 1 (2 cases)',
      'Pins: commit 4f2a → 9c1b (2 cases)',
      'Escapes: 1',
    ])
  })

  it('is silent when no case ran', () => {
    expect(summarise([{ state: 'skipped', report: { case: 'e' } }])).toEqual([])
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
      "The recordings folder is there, but no case of it was run

        folder  recordings
        cases   1 on disk, 0 collected

      Something in the Vitest config keeps them out: \`exclude\`, \`dir\`, or a \`recordings\` option that names another folder.
      → compare harvest({ recordings }) and test.exclude in vitest.config.ts with the folder
      (HARVEST_NO_CASES)"
    `)
    expect(
      obsoleteTapes(
        Array.from({ length: 11 }, (_, i) => `golden/${i}.tape.jsonl`),
        'recordings',
      ).message,
    ).toContain('and 2 more')
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
