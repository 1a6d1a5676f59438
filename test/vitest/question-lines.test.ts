import { expect, test } from 'vitest'
import type { ChangedQuestion } from '../../src/replay/changed-questions.ts'
import { proofLines, type QuestionOwner } from '../../src/vitest/question-lines.ts'

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
  const late = { class: 'awaits', part: 'tool audit after the agent returned', words: 'made, not compared' } as const
  expect(proofLines([owner(late)])).toEqual([
    [
      'Not judged',
      'tool audit after the agent returned: made, not compared   1 case: golden/a-1: green says nothing about it',
    ],
  ])
})
