import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  judgedBy,
  modelText,
  parseCase,
  type ProvenChange,
  stepsDigest,
  updateCase,
  validProofs,
} from '../../src/cases/index.ts'

const head = `# a comment
case: refund
agent: refund
tape: refund.tape.jsonl
expect: pass
baseline:
  - refund(amount)
outcome: { refunded: 25 }
`
const [first, second] = ['AAAAAAAAAAAAAAAA', 'BBBBBBBBBBBBBBBB'] as const
const proof: ProvenChange = {
  key: first,
  model: 'gpt-4.1',
  asked: 6,
  good: 6,
  atLeast: 0.6,
  control: '5/6',
  at: '2026-03-04T05:06:07.000Z',
  costUsd: 0.0123,
  judgedBy: judgedBy(parseCase(head, 'refund.case.yaml')),
}
const now = Date.parse('2026-03-20T00:00:00.000Z')
const facts = { asked: new Map<string, readonly number[]>([[first, [1]]]), model: 'gpt-4.1', maxDays: 30, now }

function counts(proven: readonly ProvenChange[], change: Partial<typeof facts> = {}, text = head): number {
  const kase = parseCase(updateCase(text, { proven }), 'refund.case.yaml')
  return validProofs(kase, { ...facts, ...change }).length
}

/** A case with an oracle, in a folder of its own that is the current one until the test is over. */
function withOracle() {
  const folder = mkdtempSync(join(tmpdir(), 'harvest-proof-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  vi.spyOn(process, 'cwd').mockReturnValue(folder)
  onTestFinished(() => void vi.restoreAllMocks())
  return { folder, kase: parseCase(`${head}oracle: ./oracle.ts#isRight\n`, 'refund.case.yaml') }
}

describe('a proof in a case', () => {
  test('is written and read as it is, and leaves the rest of the file alone', () => {
    const text = updateCase(head, { proven: [proof] })
    expect(text.startsWith(head)).toBe(true)
    expect(parseCase(text, 'refund.case.yaml').proven).toEqual([proof])
    expect(updateCase(text, { proven: [proof] })).toBe(text)
  })

  test('counts for its change, models and days', () => {
    expect(counts([proof])).toBe(1)
    expect(counts([proof], { asked: new Map([[second, [1]]]) })).toBe(0)
    expect(counts([proof], { model: 'gpt-4.1-mini' })).toBe(0)
    expect(counts([proof], { maxDays: 10 })).toBe(0)
    expect(counts([{ ...proof, at: 'yesterday' }])).toBe(0)
    // Of a clock that is ahead; of a day to come it would never be too old.
    expect(counts([{ ...proof, at: '2026-03-20T12:00:00.000Z' }])).toBe(1)
    expect(counts([{ ...proof, at: '2026-03-22T00:00:00.000Z' }])).toBe(0)
  })

  test('counts only together with the changes it was asked with', () => {
    const both = new Map([
      [first, [1]],
      [second, [1]],
    ])
    expect(counts([proof], { asked: both })).toBe(0)
    const together = [
      { ...proof, with: [second] },
      { ...proof, key: second, with: [first] },
    ]
    expect(counts(together, { asked: both })).toBe(2)
    expect(counts(together)).toBe(0)
  })

  test('counts only for the steps at which its changes were asked; one that names none counts for any', () => {
    const asked = new Map([
      [first as string, [4]],
      [second as string, [1, 4]],
    ])
    const together = { ...proof, with: [second], steps: stepsDigest(asked) }
    const at = (one: readonly number[], other: readonly number[]) =>
      new Map([
        [second as string, other],
        [first as string, one],
      ])
    expect(counts([together], { asked: at([4], [4, 1]) })).toBe(1)
    for (const moved of [at([1], [1, 4]), at([1, 4], [1, 4]), at([4], [1]), at([1, 4], [4])])
      expect([counts([together], { asked: moved }), counts([{ ...proof, with: [second] }], { asked: moved })]).toEqual([
        0, 1,
      ])
  })

  test('does not count after an edit of what says which asks were good', () => {
    expect(counts([proof], {}, head.replace('refunded: 25', 'refunded: 30'))).toBe(0)
    expect(counts([proof], {}, head.replace('refund(amount)', 'refund(amount, reason)'))).toBe(0)
    expect(counts([proof], {}, head.replace('expect: pass', 'expect: fail'))).toBe(0)
    expect(counts([proof], {}, `${head}title: Refunds\n`)).toBe(1)
  })

  test('is bound to the text of the function that judged it', () => {
    const { folder, kase } = withOracle()
    const missing = judgedBy(kase)
    writeFileSync(join(folder, 'oracle.ts'), 'export const isRight = () => true\n')
    const before = judgedBy(kase)
    writeFileSync(join(folder, 'oracle.ts'), 'export const isRight = () => false\n')
    expect(new Set([missing, before, judgedBy(kase)]).size).toBe(3)
    expect(before).toMatch(/^\.\/oracle\.ts#isRight sha256-/)
  })

  test('is bound to what that function imports by relative paths, however deep', () => {
    const { folder, kase } = withOracle()
    mkdirSync(join(folder, 'grade'))
    const files: Readonly<Record<string, string>> = {
      'oracle.ts': `export {\n  isRight,\n} from './grade/index.js'\n`,
      'grade/index.ts': `import limits from '../limits.json' with { type: 'json' }\nimport './loop'\n`,
      'grade/loop.mts': `const { isRight } = await import("../oracle")\nrequire('./old.cjs')\n`,
      'grade/old.cjs': 'module.exports = 1\n',
      'limits.json': '{ "refund": 100 }\n',
      'other.ts': 'export const other = 1\n',
    }
    for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text)
    const before = judgedBy(kase)
    expect(judgedBy(kase)).toBe(before)
    for (const [file, text] of Object.entries(files)) {
      writeFileSync(join(folder, file), `${text}\n`)
      expect([file, judgedBy(kase) === before]).toEqual([file, file === 'other.ts'])
      writeFileSync(join(folder, file), text)
    }
    renameSync(join(folder, 'grade/old.cjs'), join(folder, 'grade/older.cjs'))
    expect(judgedBy(kase)).not.toBe(before)
  })

  test('names its models once each, sorted', () => {
    expect(modelText(['gpt-5', 'claude-4', 'gpt-5'])).toBe('claude-4, gpt-5')
  })
})
