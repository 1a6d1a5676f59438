import { expect, test } from 'vitest'
import type { ChangedQuestion } from '../../src/replay/changed-questions.ts'
import { proofLines, type QuestionOwner, unprovenLines } from '../../src/vitest/question-lines.ts'

const owner = (question: Partial<ChangedQuestion>): QuestionOwner => ({
  name: 'golden/a-1',
  questions: {
    unproven: [],
    accepted: [],
    proven: [],
    obsolete: [],
    notJudged: [{ key: 'k', class: 'instructions', part: '', steps: [1], words: '', was: 'a', now: 'b', ...question }],
  } as unknown as QuestionOwner['questions'],
})

test('a change that no policy judges is said to be one, and what is done late is said with what is known of it', () => {
  expect(proofLines([owner({ part: 'system prompt' })])).toEqual([
    ['Not judged', 'system prompt changed in 1 case: golden/a-1: green says nothing about it'],
  ])
  expect(proofLines([owner({ class: 'functions', part: 'function of tool refund' })])).toEqual([
    [
      'Not judged',
      'function of tool refund changed and did not run, --tools run runs it   1 case: golden/a-1: green says nothing about it',
    ],
  ])
  const late = { class: 'awaits', part: 'tool audit after the agent returned', words: 'made, not compared' } as const
  expect(proofLines([owner(late)])).toEqual([
    [
      'Not judged',
      'tool audit after the agent returned: made, not compared   1 case: golden/a-1: green says nothing about it',
    ],
  ])
})

test('only what an acceptance reaches is offered for one', () => {
  const change = (key: string) => ({ key, part: `prompt ${key}`, words: 'new', isData: false })
  const asks = (name: string, isDifferent: boolean, ...keys: readonly string[]): QuestionOwner => ({
    name,
    questions: { unproven: keys.map(change) } as unknown as QuestionOwner['questions'],
    isDifferent,
  })
  // The key `a` is asked by a case that differs in nothing else, too.
  const lines = unprovenLines([asks('golden/x', true, 'a', 'b'), asks('golden/y', false, 'a')])
  expect(lines).toEqual([
    ['Unproven', 'prompt a  new   2 cases: golden/x, golden/y'],
    ['', 'prompt b  new   1 case: golden/x; red for more than this'],
    ['', 'to accept the others: npx vitest-harvest accept --change a --reason "…"'],
  ])
  expect(unprovenLines([asks('golden/x', true, 'a')])).toHaveLength(1)
})
