import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseCase, readAcceptedFile, writeAccepted } from '../../src/cases/index.ts'
import { acceptancesFor } from '../../src/vitest/accept-questions.ts'
import { acceptArtifact, type CaseAcceptance, type HarvestProvided } from '../../src/vitest/channel.ts'
import { writeAcceptances } from '../../src/vitest/write-acceptances.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const root = temporaryFolder('write-acceptances')
const entry = {
  key: 'AAAAAAAAAAAAAAAA',
  what: 'instructions',
  was: 'sha256-a',
  now: 'sha256-b',
  words: '[-100-] {+120+}',
  reason: 'raised',
  at: '2026-03-04T05:06:07.000Z',
}
const settings = {} as HarvestProvided['settings']
let made = 0

/** A set of cases, and what each accepts at which of its steps. */
function set(...ids: readonly string[]) {
  const name = `set-${made++}`
  const acceptedFile = join(root, `${name}.accepted.yaml`)
  const fileOf = (id: string): string => join(root, `${name}-${id}.case.yaml`)
  for (const id of ids)
    writeFileSync(fileOf(id), `case: ${id}\nagent: refund\ntape: ${id}.tape.jsonl\nexpect: pass\nbaseline: []\n`)
  const own = (id: string) =>
    existsSync(fileOf(id)) ? parseCase(readFileSync(fileOf(id), 'utf8'), fileOf(id)).accepted : undefined
  /** A name without a case is that of the tape of a hand-written test. */
  const review = (id: string, steps: readonly number[], isEverywhere = false): CaseAcceptance => {
    const hasOwnSteps = own(id)?.some((one) => one.steps !== undefined) === true
    return {
      type: acceptArtifact,
      name: id,
      ...(ids.includes(id) && { file: fileOf(id) }),
      entries: [{ ...entry, steps, isEverywhere, ...(hasOwnSteps && { hasOwnSteps }) }],
      acceptedFile,
    }
  }
  const green = (id: string): readonly number[] | 'all' | undefined => {
    const accepted = own(id)
    const kase = { id, ...(accepted !== undefined && { accepted }) }
    return acceptancesFor(kase, { acceptedFile, settings }).green.get(entry.key)
  }
  const shared = () => readAcceptedFile(acceptedFile)
  return {
    review,
    green,
    own,
    shared,
    acceptedFile,
    accept: (...all: readonly CaseAcceptance[]) => writeAcceptances(all),
  }
}

const many = Array.from({ length: 200 }, (_, at) => `case-${String(at).padStart(3, '0')}`)

test('one edit that two hundred cases ask wherever they can is one entry of nine lines', async () => {
  const golden = set(...many)
  await golden.accept(...many.map((id, at) => golden.review(id, at % 2 === 0 ? [1, 4] : [1, 3, 6], true)))
  expect(golden.shared()).toEqual([entry])
  expect(readFileSync(golden.acceptedFile, 'utf8')).not.toContain('steps')
  expect(many.map(golden.green)).toEqual(many.map(() => 'all'))
})

test('one edit that two hundred cases ask at some of their steps is one entry, with a line for the steps of each', async () => {
  const golden = set(...many)
  await golden.accept(...many.map((id, at) => golden.review(id, at % 2 === 0 ? [4] : [3, 6])))
  const text = readFileSync(golden.acceptedFile, 'utf8')
  expect(text.match(/key:/g)).toHaveLength(1)
  expect(text.match(/^ {6}case-\d+: \[[\d, ]+\]$/gm)).toHaveLength(200)
  expect(many.map(golden.green)).toEqual(many.map((_, at) => (at % 2 === 0 ? [4] : [3, 6])))
  expect(golden.green('recorded-later')).toEqual([])
})

test('of one case the steps stand in the case, and nowhere where they are all that could have the change', async () => {
  const golden = set('a', 'b')
  await golden.accept(golden.review('a', [4]))
  expect(golden.own('a')).toEqual([{ ...entry, steps: [4] }])
  expect(readFileSync(golden.review('a', []).file ?? '', 'utf8')).toContain('\n    steps: [4]\n')
  await golden.accept(golden.review('a', [1, 4], true))
  expect([golden.own('a'), golden.green('a')]).toEqual([[entry], 'all'])
  await golden.accept(golden.review('a', [1]))
  expect([golden.own('a'), golden.green('a'), golden.shared()]).toEqual([[{ ...entry, steps: [1] }], [1], []])
})

test('what one case asks at one step is not accepted at others because all others ask it everywhere', async () => {
  const golden = set('a', 'b', 'c')
  await golden.accept(golden.review('a', [4]), golden.review('b', [1, 4], true))
  expect([golden.green('a'), golden.green('b')]).toEqual([[4], [1, 4]])
  // Accepted in the case before the others had it.
  const other = set('a', 'b', 'c')
  await other.accept(other.review('a', [4]))
  await other.accept(other.review('b', [1, 4], true), other.review('c', [1], true))
  expect([other.green('a'), other.green('b'), other.shared()]).toEqual([[4], 'all', [entry]])
  // All of them at once, the first one for more steps than before.
  await other.accept(other.review('a', [1, 4], true))
  expect([other.green('a'), other.green('c')]).toEqual(['all', 'all'])
  // In the file for all cases before the others had it everywhere.
  const third = set('a', 'b', 'c', 'd')
  await third.accept(third.review('a', [4]), third.review('b', [4]))
  await third.accept(third.review('c', [1, 4], true), third.review('d', [1], true))
  expect(['a', 'b', 'c', 'd'].map(third.green)).toEqual([[4], [4], [1, 4], [1]])
  await third.accept(third.review('a', [1, 4], true))
  expect(['a', 'b'].map(third.green)).toEqual([[1, 4], [4]])
})

test('who reviewed some cases again says nothing of the others, under whose reason they stay', async () => {
  const golden = set('a', 'b', 'c')
  await golden.accept(golden.review('a', [4]), golden.review('b', [4]), golden.review('c', [4]))
  const later = (id: string) => {
    const one = golden.review(id, [1, 4])
    return { ...one, entries: one.entries.map((of) => ({ ...of, reason: 'raised there, too' })) }
  }
  await golden.accept(later('a'), later('b'))
  expect(golden.shared()).toEqual([
    { ...entry, steps: { c: [4] } },
    { ...entry, steps: { a: [1, 4], b: [1, 4] }, reason: 'raised there, too' },
  ])
  expect(['a', 'b', 'c'].map(golden.green)).toEqual([[1, 4], [1, 4], [4]])
})

test('hand-written tests that replay one tape accept the steps of all their replays', async () => {
  const golden = set('a')
  await golden.accept(golden.review('run-1', [4]), golden.review('run-1', [1]), golden.review('a', [4]))
  expect(golden.shared()).toEqual([{ ...entry, steps: { a: [4], 'run-1': [1, 4] } }])
  expect(golden.green('run-1')).toEqual([1, 4])
})

test('an entry for all cases that is too old is replaced by what was reviewed since', async () => {
  const golden = set('a', 'b')
  writeFileSync(golden.acceptedFile, writeAccepted(undefined, [{ ...entry, at: '2025-03-04T05:06:07.000Z' }], 'old'))
  await golden.accept(golden.review('a', [1], true), golden.review('b', [1], true))
  expect(golden.shared()).toEqual([entry])
})
