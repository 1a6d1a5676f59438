import { symlinkSync, truncateSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { describe, expect, test } from 'vitest'
import { findTape, listTapes } from '../../src/recordings/index.ts'
import { errorOf, messageOf, put, putTape, scratch, tapeText } from './make.ts'

const at = (day: number) => ({ startedAt: `2026-03-0${day}T05:06:07.089Z` })

describe('a list of tapes', () => {
  test('has the one started last first, and says how each ended', () => {
    const recordings = scratch()
    putTape(recordings, 'inbox/b', {
      header: { id: 'run-b', ...at(1) },
      close: { outcome: { status: 'threw', error: 'x' } },
    })
    putTape(recordings, 'inbox/a', { header: { id: 'run-a', ...at(3) } })
    putTape(recordings, 'golden/g/c', { header: { id: 'run-c', ...at(2) }, close: { incomplete: 'disk full' } })
    const shown = listTapes(recordings).map(({ file, ...tape }) => ({
      file: relative(recordings, file),
      ...tape,
      bytes: 0,
    }))
    expect(shown).toMatchInlineSnapshot(`
      [
        {
          "agent": "refund",
          "bytes": 0,
          "durationMs": 12.5,
          "events": 1,
          "file": "inbox/a.tape.jsonl",
          "id": "run-a",
          "outcome": "returned",
          "startedAt": "2026-03-03T05:06:07.089Z",
          "state": "closed",
        },
        {
          "agent": "refund",
          "bytes": 0,
          "durationMs": 12.5,
          "events": 1,
          "file": "golden/g/c.tape.jsonl",
          "id": "run-c",
          "incomplete": "disk full",
          "outcome": "returned",
          "startedAt": "2026-03-02T05:06:07.089Z",
          "state": "closed",
        },
        {
          "agent": "refund",
          "bytes": 0,
          "durationMs": 12.5,
          "events": 1,
          "file": "inbox/b.tape.jsonl",
          "id": "run-b",
          "outcome": "threw",
          "startedAt": "2026-03-01T05:06:07.089Z",
          "state": "closed",
        },
      ]
    `)
  })

  test('marks truncated and unreadable ones, which come last, and goes on', () => {
    const recordings = scratch()
    putTape(recordings, 'open', { header: { id: 'open', ...at(2) }, close: null })
    const cut = putTape(recordings, 'cut', { header: { id: 'cut', ...at(1) } })
    truncateSync(cut, tapeText({ header: { id: 'cut', ...at(1) } }).length - 20)
    putTape(recordings, 'header-only', { header: { id: 'header-only', ...at(3) }, events: [], close: null })
    const lookalike = { kind: 'mark', n: 2, at: 2, name: 'x', outcome: { status: 'returned' }, events: 1 } as const
    putTape(recordings, 'lookalike', { header: { id: 'lookalike', ...at(4) }, events: [lookalike], close: null })
    put(recordings, 'empty.tape.jsonl', '')
    put(recordings, 'noise.tape.jsonl', 'not a tape\n')
    symlinkSync(cut, join(recordings, 'link.tape.jsonl'))
    symlinkSync(dirname(recordings), join(recordings, 'loop'))
    put(recordings, '.hidden/x.tape.jsonl', tapeText())
    put(recordings, 'notes.txt', '')
    const shown = listTapes(recordings).map((tape) => [
      relative(recordings, tape.file),
      tape.state === 'unreadable' ? tape.error.code : tape.state,
    ])
    expect(shown).toEqual([
      ['lookalike.tape.jsonl', 'truncated'],
      ['header-only.tape.jsonl', 'truncated'],
      ['open.tape.jsonl', 'truncated'],
      ['cut.tape.jsonl', 'truncated'],
      ['empty.tape.jsonl', 'HARVEST_TAPE_EMPTY'],
      ['link.tape.jsonl', 'HARVEST_TAPE_UNREADABLE'],
      ['noise.tape.jsonl', 'HARVEST_TAPE_LINE'],
    ])
  })

  test('finds the last line however long it is, and whether or not a line end follows', () => {
    const recordings = scratch()
    for (const [index, length] of [0, 65_000, 65_536, 70_000, 600_000].entries()) {
      const parts = {
        header: { id: `run-${index}` },
        close: { outcome: { status: 'returned' as const, value: 'x'.repeat(length) } },
      }
      putTape(recordings, `whole-${index}`, parts)
      put(recordings, `bare-${index}.tape.jsonl`, tapeText(parts).trimEnd())
    }
    expect(listTapes(recordings).map(({ state }) => state)).toEqual(Array(10).fill('closed'))
  })

  test('of a folder that is not there is empty', () => {
    expect(listTapes(scratch())).toEqual([])
  })
})

describe('a tape is found', () => {
  function twoTapes(): string {
    const recordings = scratch()
    putTape(recordings, 'inbox/01abc', { header: { id: '01abc' } })
    putTape(recordings, 'inbox/01abd', { header: { id: '01abd', ...at(9) } })
    putTape(recordings, 'golden/g/refund', { header: { id: '01abc' } })
    return recordings
  }
  const found = (recordings: string, word: string) => relative(recordings, findTape(recordings, word))

  test('by its name, which comes before the id it was recorded under', () => {
    const recordings = twoTapes()
    expect(found(recordings, '01abc')).toBe('inbox/01abc.tape.jsonl')
    expect(found(recordings, 'refund')).toBe('golden/g/refund.tape.jsonl')
  })

  test('by its id alone when its file has another name', () => {
    const recordings = scratch()
    putTape(recordings, 'golden/refund', { header: { id: '01abc' } })
    expect(found(recordings, '01abc')).toBe('golden/refund.tape.jsonl')
    expect(found(recordings, '01a')).toBe('golden/refund.tape.jsonl')
  })

  test('by a beginning no other tape has', () => {
    expect(found(twoTapes(), '01abd')).toBe('inbox/01abd.tape.jsonl')
    expect(found(twoTapes(), 'ref')).toBe('golden/g/refund.tape.jsonl')
  })

  test('as the latest of the inbox', () => {
    expect(found(twoTapes(), 'latest')).toBe('inbox/01abd.tape.jsonl')
    expect(errorOf(() => findTape(scratch(), 'latest')).code).toBe('HARVEST_TAPE_MISSING')
  })

  test('by a path, seen from here or from the recordings', () => {
    const recordings = twoTapes()
    for (const path of [
      'inbox/01abc.tape.jsonl',
      join(recordings, 'inbox/01abc.tape.jsonl'),
      './golden/../inbox/01abc.tape.jsonl',
    ]) {
      expect(found(recordings, path), path).toBe('inbox/01abc.tape.jsonl')
    }
  })

  test('not when several could be meant: they are listed', () => {
    expect(messageOf(() => findTape(twoTapes(), '01ab'))).toMatchInlineSnapshot(`
      "2 tapes match '01ab'

        tapes  <root>/recordings/inbox/01abc.tape.jsonl
               <root>/recordings/inbox/01abd.tape.jsonl

      → name one of them by its path, such as: npx vitest-harvest show <root>/recordings/inbox/01abc.tape.jsonl
      (HARVEST_TAPE_AMBIGUOUS)"
    `)
    expect(errorOf(() => findTape(twoTapes(), '0')).code).toBe('HARVEST_TAPE_AMBIGUOUS')
  })

  test('not when there is none', () => {
    expect(messageOf(() => findTape(twoTapes(), 'refund-2'))).toMatchInlineSnapshot(`
      "Unknown tape 'refund-2'

        recordings  <root>/recordings

      It is not in the inbox: in production, the recorder keeps a sample and what stood out.
      → did you mean: refund instead of refund-2
      → to see the runs: npx vitest-harvest ls
      → to find it by its text: npx vitest-harvest ls --text '<words>'
      → if its recorder writes to another folder: --dir '<folder>'
      (HARVEST_TAPE_MISSING)"
    `)
    // Another id of the inbox is another customer's run, however near it is.
    expect(messageOf(() => findTape(twoTapes(), '01abx'))).not.toContain('did you mean')
    expect(errorOf(() => findTape(twoTapes(), 'inbox/none.tape.jsonl')).code).toBe('HARVEST_TAPE_MISSING')
    expect(errorOf(() => findTape(twoTapes(), '')).code).toBe('HARVEST_TAPE_MISSING')
  })

  test('not outside of the recordings, nor behind a linked folder', () => {
    const recordings = twoTapes()
    put(dirname(recordings), 'outside/a.tape.jsonl', tapeText())
    symlinkSync(join(dirname(recordings), 'outside'), join(recordings, 'linked'))
    expect(messageOf(() => findTape(recordings, '../outside/a.tape.jsonl'))).toMatchInlineSnapshot(`
      "The file is outside the recordings folder

        file        <root>/outside/a.tape.jsonl
        recordings  <root>/recordings

      → to use it, copy it into <root>/recordings/inbox
      (HARVEST_RECORDINGS_OUTSIDE)"
    `)
    for (const path of [
      join(dirname(recordings), 'outside/a.tape.jsonl'),
      'linked/a.tape.jsonl',
      'inbox/../../outside/a.tape.jsonl',
    ]) {
      expect(errorOf(() => findTape(recordings, path)).code, path).toBe('HARVEST_RECORDINGS_OUTSIDE')
    }
  })
})

describe('a tape that is to be changed', () => {
  test('is named whole: the beginning of a name is refused and says which there are', () => {
    const recordings = scratch()
    for (const id of ['t350', 't351']) putTape(recordings, `inbox/${id}`, { header: { id } })
    putTape(recordings, 'inbox/t36', { header: { id: 'run-36' } })
    expect(messageOf(() => findTape(recordings, 't35', { isExact: true }))).toMatchInlineSnapshot(`
      "No tape has the id 't35': it is only a prefix

        tapes  <root>/recordings/inbox/t350.tape.jsonl
               <root>/recordings/inbox/t351.tape.jsonl

      Commands that change tapes take whole ids only, so that a typo never hits another tape.
      → if it is this one: t350
      → if it is this one: t351
      (HARVEST_TAPE_AMBIGUOUS)"
    `)
    expect(messageOf(() => findTape(recordings, 'run-3', { isExact: true }))).toContain('→ if it is this one: t36')
    for (const word of ['t36', 'run-36', 'latest', join(recordings, 'inbox/t36.tape.jsonl')])
      expect(findTape(recordings, word, { isExact: true })).toMatch(/t3\w+\.tape\.jsonl$/)
    expect(findTape(recordings, 'run-3')).toMatch(/t36\.tape\.jsonl$/)
  })
})

test('a case and the tape it was promoted from share a name: reading takes the case, changing the inbox', () => {
  const recordings = scratch()
  putTape(recordings, 'inbox/refund', { header: { id: 'refund' } })
  putTape(recordings, 'golden/g/refund', { header: { id: 'refund' } })
  const found = (options?: { readonly isExact: boolean }) =>
    relative(recordings, findTape(recordings, 'refund', options))
  expect(found()).toBe('golden/g/refund.tape.jsonl')
  expect(found({ isExact: true })).toBe('inbox/refund.tape.jsonl')
  putTape(recordings, 'golden/h/refund', { header: { id: 'refund' } })
  expect(errorOf(() => findTape(recordings, 'refund')).code).toBe('HARVEST_TAPE_AMBIGUOUS')
  expect(found({ isExact: true })).toBe('inbox/refund.tape.jsonl')
})
