import '../support/packed.ts'
import { expect, test } from 'vitest'
import { many } from '../cli/many.ts'
import { configFor, project } from '../cli/project.ts'
import { golden, refundBaseline, refundSources, tapeText } from '../host/refund.ts'
import { hostileRepository } from '../provenance/hostile-repository.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

test('no command runs a program that the .git folder of a project names', { tags: 'thorough' }, () => {
  const files = {
    ...refundSources,
    ...golden('paid', refundBaseline),
    'vitest.config.ts': configFor({ refund: './src/refund.ts#refundAgent' }),
    'recordings/inbox/asked.tape.jsonl': tapeText('asked'),
    '.gitignore': 'node_modules\n',
  }
  const { root, ran } = hostileRepository(project({}), temporaryFolder('canaries'), files)
  const lines = [
    ['doctor'],
    ['check'],
    ['check', '--staged'],
    ['pins'],
    ['review', 'HEAD~1..HEAD'],
    ['show', 'paid'],
    ['promote', 'asked', '--as', 'asked', '--unverified'],
    ['replay', 'asked', '--agent', './src/refund.ts#refundAgent'],
    ['blame', 'paid', '--ok', 'refunded=25', '--dry-run'],
    ['test', 'paid'],
  ]
  const answers = many(lines, root, { CI: '1', HOME: temporaryFolder('home') })
  expect(answers.filter(({ code }) => code === 101)).toEqual([])
  expect(ran()).toEqual([])
})
