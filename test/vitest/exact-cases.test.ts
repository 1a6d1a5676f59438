import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, sep } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { exactCases } from '../../src/vitest/exact-cases.ts'

const dir = mkdtempSync(join(tmpdir(), 'harvest-exact-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))
for (const file of [
  'recordings/golden/refund.case.yaml',
  'recordings/golden/vip-refund.case.yaml',
  'recordings/golden/refund-late.case.yml',
  'recordings/golden/ship/label.case.yaml',
  'recordings/golden/shipping/label.case.yaml',
  'packages/shop/recordings/golden/basket.case.yaml',
  'node_modules/other/recordings/golden/refund.case.yaml',
  'test/refund.test.ts',
]) {
  mkdirSync(dirname(join(dir, file)), { recursive: true })
  writeFileSync(join(dir, file), 'tape: a.tape.jsonl\n')
}
const golden = join(dir, 'recordings', 'golden')
const more = ['--reporter', 'refund']

describe('an update of a named case', () => {
  test.each([
    ['refund', join(golden, 'refund.case.yaml')],
    ['golden/refund', join(golden, 'refund.case.yaml')],
    ['recordings/golden/refund.case.yaml', join(golden, 'refund.case.yaml')],
    ['refund-late', join(golden, 'refund-late.case.yml')],
    ['ship/label', join(golden, 'ship', 'label.case.yaml')],
    ['ship', join(golden, 'ship') + sep],
    ['recordings/golden', golden + sep],
    ['basket', join(dir, 'packages/shop/recordings/golden/basket.case.yaml')],
    ['test/refund.test.ts', join(dir, 'test/refund.test.ts')],
  ])('%s is of that one, and of no other whose path has its name in it', (word, path) => {
    expect(exactCases(['run', word, ...more], dir)).toEqual(['run', path, ...more])
    expect(exactCases([...more, word], dir)).toEqual([...more, path])
    expect(exactCases(['--reporter=json', word], dir)).toEqual(['--reporter=json', path])
    expect(exactCases(['run', '--', word], dir)).toEqual(['run', '--', word])
  })

  test.each(['refu', 'fund', 'label', 'late', 'golden', 'case.yaml'])(
    '%s, which names no case or several, is refused',
    (word) => {
      expect(() => exactCases([word, ...more], dir)).toThrow('it does not name one case; nothing was run')
    },
  )

  test('words that no case has in its path are those of other tests', () => {
    expect(exactCases(['answers', ...more], dir)).toEqual(['answers', ...more])
  })
})
