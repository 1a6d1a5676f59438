import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, sep } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { beyond, exactCases } from '../../src/vitest/exact-cases.ts'
import { narrowedUpdate } from '../../src/vitest/narrowed-update.ts'
import type { UpdateChoice } from '../../src/vitest/update-mode.ts'

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
  'test/vip-refund.test.ts',
  'test/refund.late.spec.tsx',
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
    ['refund.case.yaml', join(golden, 'refund.case.yaml')],
    ['ship/label.case.yaml', join(golden, 'ship', 'label.case.yaml')],
    ['basket', join(dir, 'packages/shop/recordings/golden/basket.case.yaml')],
    ['test/refund.test.ts', join(dir, 'test/refund.test.ts')],
  ])('%s is of that one, and of no other whose path has its name in it', (word, path) => {
    expect(exactCases(['run', word, ...more], dir)).toEqual(['run', path, ...more])
    expect(exactCases([...more, word], dir)).toEqual([...more, path])
    expect(exactCases(['--reporter=json', word], dir)).toEqual(['--reporter=json', path])
    expect(exactCases(['run', '--', word], dir)).toEqual(['run', '--', word])
  })

  test.each(['refu', 'fund', 'label', 'late', 'golden', 'case.yaml', 'REFUND'])(
    '%s, which names no case or several, is refused',
    (word) => {
      expect(() => exactCases([word, ...more], dir)).toThrow('it does not name one case; nothing was run')
    },
  )

  test('words that no case has in its path are those of other tests', () => {
    expect(exactCases(['answers', ...more], dir)).toEqual(['answers', ...more])
  })
})

describe('a run of plain Vitest that updates', () => {
  const cases = [
    join(golden, 'refund.case.yaml'),
    join(golden, 'vip-refund.case.yaml'),
    join(golden, 'refund-late.case.yml'),
    join(golden, 'ship', 'label.case.yaml'),
    join(golden, 'shipping', 'label.case.yaml'),
  ]
  const [refund = '', vip = '', late = '', label = '', other = ''] = cases
  const tests = ['test/refund.test.ts', 'test/vip-refund.test.ts', 'test/refund.late.spec.tsx'].map((one) =>
    join(dir, one),
  )
  test.each([
    ['refund', [refund], [vip, late]],
    ['golden/refund', [refund], [vip, late]],
    ['refund.case.yaml', [refund], [vip]],
    ['REFUND', [], [refund, vip, late]],
    ['refu', [], [refund, vip, late]],
    [refund, [refund], [vip, late]],
    [`${refund}:3`, [refund], [vip, late]],
    ['recordings/golden', cases, []],
    [`${golden}${sep}`, cases, []],
    ['ship', [label], [other]],
    ['label', [], [label, other]],
    ['.case.yaml', [refund, vip, label, other], [late]],
  ])('%s names these cases, and others only have it in their paths', (word, named, others) => {
    expect(beyond(named, cases, [word], dir)).toEqual([])
    expect(beyond(others, cases, [word], dir)).toEqual(others)
    expect(beyond([...named, ...others], cases, [word, ...others], dir)).toEqual([])
  })

  test('hand-written tests are named as cases are, with or without their ending', () => {
    const [own = '', ...others] = tests
    for (const word of ['refund', 'test/refund.test', 'refund.test.ts', own])
      expect([word, beyond(tests, tests, [word], dir)]).toEqual([word, others])
    expect(beyond(tests, tests, ['test'], dir)).toEqual([])
    expect(beyond(tests, tests, ['refund.late'], dir)).toEqual(tests.slice(0, 2))
  })

  const refused = (
    choice: UpdateChoice,
    accepting: readonly string[],
    names = ['refund'],
    again: readonly string[] = [],
  ) =>
    narrowedUpdate(
      choice,
      [
        { ran: cases, accepting },
        { ran: tests, accepting: [] },
      ],
      { names, again, root: dir, chosenBy: [] },
    )?.facts.fix
  const pins: UpdateChoice = { mode: 'pins' }

  test('is told the commands for what was named and for all, as its mode, its reason and its options have to be typed', () => {
    const because: UpdateChoice = { mode: 'questions', reason: "it's right" }
    const end = String.raw`--update-recordings=questions --reason 'it'\''s right' --root 'my app'`
    expect(refused(because, [vip, refund, refund], ['refund'], ['--root', 'my app'])).toEqual([
      `to update what was named: npx vitest-harvest test ${refund} ${end}`,
      `to update all of them: npx vitest-harvest test ${refund} ${vip} ${end}`,
    ])
    expect(refused(pins, [vip])).toEqual([`to update it: npx vitest-harvest test ${vip} --update-recordings=pins`])
    const many = Array.from({ length: 21 }, (_, at) => join(golden, `refund-${100 + at}.case.yaml`))
    expect(refused(pins, many)).toEqual([`to update one: npx vitest-harvest test ${many[0]} --update-recordings=pins`])
  })

  test('writes what it names, what is new, and all where it was not narrowed', () => {
    expect([refused(pins, [refund]), refused({ mode: 'new' }, cases), refused(pins, cases, [])]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
  })
})
