import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join, relative } from 'node:path'
import { describe, expect, test } from 'vitest'
import { demote, listCases, promote } from '../../src/recordings/index.ts'
import { errorOf, messageOf, put, putTape, scratch, tapeText } from './make.ts'

/** Recordings with a case `refund-100x` of the tape run-1, which is no longer in the inbox. */
function withCase(): string {
  const recordings = scratch()
  const tape = putTape(recordings, 'inbox/run-1')
  promote({ recordings, tape, as: 'refund-100x', group: 'g' })
  rmSync(tape)
  return recordings
}

const filesIn = (folder: string): readonly string[] =>
  existsSync(folder) ? readdirSync(folder, { recursive: true }).map(String).sort() : []

function demoted(recordings: string, word: string): object {
  const { tapeFile, wasThere, removed } = demote(recordings, word)
  return { tape: relative(recordings, tapeFile), wasThere, removed: removed.map((file) => relative(recordings, file)) }
}

describe('demoting a case', () => {
  test.for(['refund-100x', 'g/refund-100x', 'golden/g/refund-100x.case.yaml'])(
    'named %s puts its tape back under the id it was recorded with, and removes the case',
    (word) => {
      const recordings = withCase()
      expect(demoted(recordings, word)).toEqual({
        tape: 'inbox/run-1.tape.jsonl',
        wasThere: false,
        removed: ['golden/g/refund-100x.case.yaml', 'golden/g/refund-100x.tape.jsonl'],
      })
      expect(readFileSync(join(recordings, 'inbox/run-1.tape.jsonl'), 'utf8')).toBe(tapeText())
      expect(filesIn(join(recordings, 'golden'))).toEqual(['g'])
      // And back again.
      expect(promote({ recordings, tape: 'run-1', as: 'refund-100x' }).content.id).toBe('refund-100x')
    },
  )

  test('whose tape the inbox still has leaves it there', () => {
    const recordings = withCase()
    putTape(recordings, 'inbox/run-1')
    expect(demoted(recordings, 'refund-100x')).toMatchObject({ tape: 'inbox/run-1.tape.jsonl', wasThere: true })
    expect(filesIn(join(recordings, 'inbox'))).toEqual(['run-1.tape.jsonl'])
  })

  test('takes the name of the case when the inbox has another tape of that id, and replaces nothing', () => {
    const recordings = withCase()
    putTape(recordings, 'inbox/run-1', { header: { agent: 'other' } })
    expect(demoted(recordings, 'refund-100x')).toMatchObject({ tape: 'inbox/refund-100x.tape.jsonl' })
    expect(readFileSync(join(recordings, 'inbox/run-1.tape.jsonl'), 'utf8')).toContain('"other"')
  })

  test('is refused when the inbox has other tapes of both names, and the case stays', () => {
    const recordings = withCase()
    putTape(recordings, 'inbox/run-1', { header: { agent: 'other' } })
    putTape(recordings, 'inbox/refund-100x', { header: { agent: 'other' } })
    expect(errorOf(() => demote(recordings, 'refund-100x')).code).toBe('HARVEST_RECORDINGS_EXISTS')
    expect(listCases(recordings).map(({ id, error }) => [id, error])).toEqual([['refund-100x', undefined]])
  })

  test('keeps a tape that another case has', () => {
    const recordings = withCase()
    const folder = join(recordings, 'golden/g')
    const text = readFileSync(join(folder, 'refund-100x.case.yaml'), 'utf8')
    writeFileSync(join(folder, 'second.case.yaml'), text.replace('case: refund-100x', 'case: second'))
    expect(demoted(recordings, 'second')).toMatchObject({ removed: ['golden/g/second.case.yaml'] })
    expect(listCases(recordings).map(({ id, error }) => [id, error])).toEqual([['refund-100x', undefined]])
  })

  test('that was cut short after the case was gone is finished by doing it again', () => {
    const recordings = withCase()
    rmSync(join(recordings, 'golden/g/refund-100x.case.yaml'))
    expect(demoted(recordings, 'refund-100x')).toEqual({
      tape: 'inbox/run-1.tape.jsonl',
      wasThere: false,
      removed: ['golden/g/refund-100x.tape.jsonl'],
    })
    expect(errorOf(() => demote(recordings, 'refund-100x')).code).toBe('HARVEST_CASE_MISSING')
  })

  test('without its tape, broken, or unknown is refused and changes nothing', () => {
    const recordings = withCase()
    expect(messageOf(() => demote(recordings, 'refund-1x'))).toMatchInlineSnapshot(`
      "Unknown case 'refund-1x'

        recordings  <root>/recordings
        cases       1

      → did you mean: refund-100x instead of refund-1x
      → to list them: npx vitest-harvest ls --golden
      (HARVEST_CASE_MISSING)"
    `)
    const broken = put(recordings, 'golden/broken.case.yaml', 'case: [')
    expect(errorOf(() => demote(recordings, 'broken')).code).toMatch(/^HARVEST_CASE_/)
    expect(existsSync(broken)).toBe(true)
    rmSync(join(recordings, 'golden/g/refund-100x.tape.jsonl'))
    expect(errorOf(() => demote(recordings, 'refund-100x')).code).toBe('HARVEST_CASE_TAPE_MISSING')
    expect(filesIn(join(recordings, 'golden/g'))).toEqual(['refund-100x.case.yaml'])
  })

  test('of a damaged tape takes it back as it is', () => {
    const recordings = withCase()
    writeFileSync(join(recordings, 'golden/g/refund-100x.tape.jsonl'), '<<<<<<< ours\n')
    expect(demoted(recordings, 'refund-100x')).toMatchObject({ tape: 'inbox/refund-100x.tape.jsonl' })
    expect(readFileSync(join(recordings, 'inbox/refund-100x.tape.jsonl'), 'utf8')).toBe('<<<<<<< ours\n')
  })

  test('never writes where an id or a link leads', () => {
    const recordings = scratch()
    const tape = putTape(recordings, 'inbox/run-1', { header: { id: '../../escaped' } })
    promote({ recordings, tape, as: 'refund-100x' })
    rmSync(tape)
    expect(demoted(recordings, 'refund-100x')).toMatchObject({ tape: 'inbox/refund-100x.tape.jsonl' })
    promote({ recordings, tape: join(recordings, 'inbox/refund-100x.tape.jsonl'), as: 'refund-100x' })
    renameSync(join(recordings, 'inbox'), join(recordings, 'elsewhere'))
    mkdirSync(join(recordings, 'target'))
    symlinkSync('target', join(recordings, 'inbox'))
    expect(errorOf(() => demote(recordings, 'refund-100x')).code).toBe('HARVEST_RECORDINGS_LINK')
    expect(listCases(recordings).map(({ id, error }) => [id, error])).toEqual([['refund-100x', undefined]])
  })
})
