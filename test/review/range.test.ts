import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { openRecordings } from '../../src/index.ts'
import type { Review } from '../../src/review/index.ts'
import { harvest } from '../cli/harvest.ts'
import { call, put, putTape } from '../recordings/make.ts'
import { base, good, planted } from './planted.ts'

const numbered = (kind: string, at: number): string => `${kind}-${String(at + 1).padStart(2, '0')}`
const named = (text: string, id: string): string =>
  text.replace('case: refund-100x', `case: ${id}`).replace('tape: refund-100x.tape.jsonl', `tape: ${id}.tape.jsonl`)

describe('one branch with every planted weakening and every good change', () => {
  const cwd = mkdtempSync(join(tmpdir(), 'harvest-review-'))
  const recordings = join(cwd, 'recordings')
  const git = (...args: readonly string[]): void =>
    void execFileSync('git', ['-c', 'user.name=Jane', '-c', 'user.email=jane@example.com', ...args], {
      cwd,
      stdio: 'pipe',
    })
  const write = (name: string, text: string): void =>
    void put(recordings, `golden/${name}.case.yaml`, named(text, name.replace(/^.*\//, '')))
  /** A case and its tape, which does what no other tape does. */
  const add = (name: string, text: string, order: number): void => {
    const id = name.replace(/^.*\//, '')
    const events = [call(1, 'lookup_order', { order_id: `A-${order}` })]
    putTape(recordings, `golden/${name}`, { header: { id, input: { order } }, events })
    write(name, text)
  }
  const bad = planted.map(([text, what], at) => ({ id: numbered('weak', at), text, what }))
  const fine = good.map(([what, text], at) => ({ id: numbered('good', at), text, what }))
  let review: Review | undefined
  const ids = (chosen: Review | undefined = review): Readonly<Record<string, readonly string[]>> =>
    Object.fromEntries(
      (chosen?.cases ?? [])
        .filter(({ weakened }) => weakened.length > 0)
        .map(({ id, weakened }) => [id, weakened.map(({ field, what }) => `${field}: ${what}`)]),
    )

  beforeAll(async () => {
    mkdirSync(recordings)
    for (const [at, { id }] of [...bad, ...fine].entries()) add(id, base, at)
    for (const [at, id] of ['removed', 'moved', 'moved-weaker', 'renamed', 'left'].entries()) add(id, base, 200 + at)
    writeFileSync(join(cwd, '.gitattributes'), '*.tape.jsonl -text\n')
    git('init', '-q', '-b', 'main')
    git('add', '-A')
    git('commit', '-qm', 'Start')
    git('checkout', '-qb', 'change')
    for (const { id, text } of [...bad, ...fine]) write(id, text)
    const golden = join(recordings, 'golden')
    for (const end of ['case.yaml', 'tape.jsonl']) {
      rmSync(join(golden, `removed.${end}`))
      mkdirSync(join(golden, 'refunds'), { recursive: true })
      for (const id of ['moved', 'moved-weaker'])
        renameSync(join(golden, `${id}.${end}`), join(golden, `refunds/${id}.${end}`))
    }
    write('refunds/moved-weaker', base.replace('refunded: 25', 'refunded: "*"'))
    renameSync(join(golden, 'renamed.case.yaml'), join(golden, 'another-name.case.yaml'))
    // A case outside of every recordings folder is run by no test.
    mkdirSync(join(cwd, 'old'))
    for (const end of ['case.yaml', 'tape.jsonl']) renameSync(join(golden, `left.${end}`), join(cwd, `old/left.${end}`))
    add(
      'fresh',
      base.replace(/match:\n(?: .*\n)+/, '').replace(/(?:drift|escapes|serve|tools|timeout): .*\n/g, ''),
      300,
    )
    add(
      'fresh-weak',
      base.replace(/(?:drift|escapes|serve|tools|timeout): .*\n/g, '').replace('args: keys', 'args: ignore'),
      301,
    )
    put(
      recordings,
      'accepted.yaml',
      `accepted:\n  - ${JSON.stringify({ key: '4f9kQ2mXw7TzB1aL', what: 'instructions', was: 'a'.repeat(22), now: 'b'.repeat(22), words: 'one → another' })}\n`,
    )
    writeFileSync(join(cwd, 'README.md'), 'More.\n')
    git('add', '-A')
    git('commit', '-qm', 'Change')
    const { stdout, stderr } = await harvest(['review', 'main..change', '--json'], { cwd })
    expect(stderr).toBe('')
    review = JSON.parse(stdout) as Review
  })
  afterAll(() => rmSync(cwd, { recursive: true, force: true }))

  it('is the same from code', async () => {
    vi.spyOn(process, 'cwd').mockReturnValue(cwd)
    onTestFinished(() => void vi.restoreAllMocks())
    const library = await openRecordings('recordings')
    expect(JSON.parse(JSON.stringify(await library.review('main..change')))).toEqual(review)
  })

  it('names each of more than thirty weakenings, with what is weaker', () => {
    expect(bad.length).toBeGreaterThanOrEqual(30)
    const wanted = Object.fromEntries(bad.map(({ id, what }) => [id, [what]]))
    expect(Object.fromEntries(Object.entries(ids()).filter(([id]) => id.startsWith('weak')))).toEqual(wanted)
  })

  it('names none of more than thirty good changes, and finds nothing to fix in them', () => {
    expect(fine.length).toBeGreaterThanOrEqual(30)
    expect(Object.keys(ids()).filter((id) => id.startsWith('good'))).toEqual([])
    expect(review?.findings).toEqual([])
  })

  it('names what was removed, moved out, moved and weakened, or new and weak; not what moved or is new', () => {
    expect(Object.fromEntries(Object.entries(ids()).filter(([id]) => !/^(?:weak|good)-/.test(id)))).toEqual({
      removed: ['case: removed'],
      left: ['case: removed'],
      'moved-weaker': ['outcome.refunded: 25 → *'],
      'fresh-weak': expect.arrayContaining([expect.stringContaining('match.args: keys → ignore')]),
    })
  })

  it('names changed questions that were accepted for all cases', () => {
    expect(review?.acceptedForAll).toEqual([{ file: 'recordings/accepted.yaml', accepted: 1 }])
  })

  it('points at the line of each weakening that still stands in a file', () => {
    for (const { file, weakened } of review?.cases ?? [])
      for (const { field, line } of weakened)
        if (line !== undefined)
          expect(readFileSync(join(cwd, file), 'utf8').split('\n').slice(0, line).join('\n')).toContain(
            field.split(/[.[]/, 1)[0],
          )
  })
})
