import * as nodeFs from 'node:fs'
import { createRequire, syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import {
  holdOf,
  holdOfTape,
  listTapes,
  placeHold,
  pruneTapes,
  releaseHold,
  removeTapes,
} from '../../src/recordings/index.ts'
import { call, errorOf, messageOf, put, putTape, scratch } from './make.ts'

const { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } = nodeFs
const fs = createRequire(import.meta.url)('node:fs') as Record<string, (...args: unknown[]) => unknown>
const originals = { ...fs }
afterEach(restore)

function restore(): void {
  for (const name of ['renameSync', 'rmSync', 'lstatSync']) fs[name] = originals[name]!
  syncBuiltinESMExports()
}

/** Lets something happen right before the n-th call of a function. */
function before(name: string, n: number, act: () => void): void {
  let calls = 0
  fs[name] = (...args) => {
    if (++calls === n) act()
    return originals[name]!(...args)
  }
  syncBuiltinESMExports()
}

const names = (recordings: string): readonly string[] => readdirSync(join(recordings, 'inbox')).sort()

describe('removing a tape', () => {
  test('takes a file without an end of its first line, however long it is, of which no more is read than tells that', {
    tags: 'thorough',
  }, () => {
    const recordings = scratch()
    const starts = { zeros: '', brace: '{', both: '{' }
    for (const [name, start] of Object.entries(starts)) {
      const file = put(recordings, `inbox/${name}.tape.jsonl`, start)
      // Longer than any string; the system keeps no zeros.
      nodeFs.truncateSync(file, 600 * 1024 * 1024)
    }
    const ended = nodeFs.openSync(join(recordings, 'inbox/both.tape.jsonl'), 'r+')
    nodeFs.writeSync(ended, '}', 600 * 1024 * 1024 - 1)
    nodeFs.closeSync(ended)
    let read = 0
    fs['readSync'] = (...args) => {
      const bytes = originals['readSync']!(...args) as number
      read += bytes
      return bytes
    }
    syncBuiltinESMExports()
    const listed = listTapes(join(recordings, 'inbox')).map((tape) => [
      tape.file.replace(/.*\/|\..*/g, ''),
      tape.state === 'unreadable' && tape.error.code,
    ])
    expect(listed.sort()).toEqual([
      ['both', 'HARVEST_TAPE_UNREADABLE'],
      ['brace', 'HARVEST_TAPE_UNREADABLE'],
      ['zeros', 'HARVEST_TAPE_TRUNCATED'],
    ])
    expect(read).toBeLessThan(300 * 1024 * 1024)
    removeTapes(
      recordings,
      Object.keys(starts).map((name) => join(recordings, `inbox/${name}.tape.jsonl`)),
    )
    expect(names(recordings)).toEqual([])
  })

  test('takes it out of the inbox, and nothing else', () => {
    const recordings = scratch()
    const files = ['a', 'b'].map((name) => putTape(recordings, `inbox/${name}`))
    putTape(recordings, 'inbox/c')
    removeTapes(recordings, files)
    expect(names(recordings)).toEqual(['c.tape.jsonl'])
  })

  test('works for a tape that cannot be read, and for a link, which does not lose what it leads to', () => {
    const recordings = scratch()
    const noise = put(recordings, 'inbox/noise.tape.jsonl', 'noise')
    const golden = putTape(recordings, 'golden/a')
    const link = join(recordings, 'inbox/link.tape.jsonl')
    symlinkSync(golden, link)
    removeTapes(recordings, [noise, link])
    expect(names(recordings)).toEqual([])
    expect(existsSync(golden)).toBe(true)
  })

  test('outside of the inbox is refused, and nothing is removed then', () => {
    const recordings = scratch()
    const tape = putTape(recordings, 'inbox/a')
    const golden = putTape(recordings, 'golden/g/refund-100x')
    expect(messageOf(() => removeTapes(recordings, [tape, golden]))).toMatchInlineSnapshot(`
      "The tape is not in the inbox, so it is neither removed nor held

        tape  <root>/recordings/golden/g/refund-100x.tape.jsonl

      A tape of the golden set stays as long as its case does.
      → to remove its case from the golden set: npx vitest-harvest tapes demote refund-100x
      (HARVEST_RECORDINGS_GOLDEN)"
    `)
    expect(names(recordings)).toEqual(['a.tape.jsonl'])
  })

  test('under a hold is refused, whether the hold was put on it or written with it', () => {
    const recordings = scratch()
    const tape = putTape(recordings, 'inbox/a')
    placeHold(recordings, tape, 'claim 4711\u001b[2J')
    expect(messageOf(() => removeTapes(recordings, [tape])).replace(/\d{4}-\S+Z/, '<when>')).toMatchInlineSnapshot(`
      "The tape is under a legal hold, so it is not removed

        tape    <root>/recordings/inbox/a.tape.jsonl
        reason  claim 4711\\x1b[2J
        since   <when>

      → when the hold has ended: npx vitest-harvest tapes hold <root>/recordings/inbox/a.tape.jsonl --release
      (HARVEST_RECORDINGS_HELD)"
    `)
    const other = putTape(recordings, 'inbox/b', { close: { retention: { class: 'incident', hold: 'claim 7' } } })
    expect(errorOf(() => removeTapes(recordings, [other])).facts.where).toMatchObject({ reason: 'claim 7' })
    expect(names(recordings)).toEqual(['a.hold.json', 'a.tape.jsonl', 'b.tape.jsonl'])
  })

  test('of a tape that is not there, and of a folder, is refused', () => {
    const recordings = scratch()
    const folder = join(recordings, 'inbox/folder.tape.jsonl')
    mkdirSync(folder, { recursive: true })
    expect(errorOf(() => removeTapes(recordings, [folder])).code).toBe('HARVEST_RECORDINGS_REMOVE')
    expect(errorOf(() => removeTapes(recordings, [join(recordings, 'inbox/x.tape.jsonl')])).code).toBe(
      'HARVEST_TAPE_MISSING',
    )
    expect(names(recordings)).toEqual(['folder.tape.jsonl'])
  })

  test('at the moment a hold is put on it keeps the tape', () => {
    const recordings = scratch()
    const tape = putTape(recordings, 'inbox/a')
    // After the last look before the tape is taken aside.
    before('renameSync', 1, () => {
      restore()
      placeHold(recordings, tape, 'claim 4711')
      writeFileSync(join(recordings, 'placed'), '')
      // The rename that was on its way.
    })
    expect(errorOf(() => removeTapes(recordings, [tape])).code).toBe('HARVEST_RECORDINGS_HELD')
    expect(existsSync(join(recordings, 'placed'))).toBe(true)
    expect(holdOfTape(tape)?.reason).toBe('claim 4711')
    expect(names(recordings)).toEqual(['a.hold.json', 'a.tape.jsonl'])
  })

  test('that was cut short is finished by the next one, and undone when the tape is held', () => {
    const recordings = scratch()
    const other = putTape(recordings, 'inbox/other')
    putTape(recordings, 'inbox/.gone')
    putTape(recordings, 'inbox/.kept')
    for (const name of ['gone', 'kept'])
      nodeFs.renameSync(
        join(recordings, `inbox/.${name}.tape.jsonl`),
        join(recordings, `inbox/.${name}.tape.jsonl.removing`),
      )
    put(recordings, 'inbox/kept.hold.json', '{"hold":"claim 4711"}')
    removeTapes(recordings, [other])
    expect(names(recordings)).toEqual(['kept.hold.json', 'kept.tape.jsonl'])
  })
})

describe('a hold', () => {
  const tapeIn = (recordings: string) => putTape(recordings, 'inbox/a')

  test('stands until it is released, also one that was written with the tape', () => {
    const recordings = scratch()
    const tape = tapeIn(recordings)
    placeHold(recordings, tape, 'claim 4711')
    expect(holdOfTape(tape)).toEqual({ reason: 'claim 4711', at: expect.stringMatching(/^\d{4}-.+Z$/) as string })
    releaseHold(recordings, tape)
    expect(holdOfTape(tape)).toBeUndefined()
    expect(names(recordings)).toEqual(['a.tape.jsonl'])
    const other = putTape(recordings, 'inbox/b', { close: { retention: { class: 'clean', hold: 'claim 7' } } })
    expect(holdOfTape(other)).toEqual({ reason: 'claim 7' })
    releaseHold(recordings, other)
    expect(holdOfTape(other)).toBeUndefined()
    placeHold(recordings, other, 'claim 8')
    expect(holdOfTape(other)?.reason).toBe('claim 8')
    releaseHold(recordings, other)
    removeTapes(recordings, [other])
    expect(names(recordings)).toEqual(['a.tape.jsonl'])
  })

  test.for(['', '{', '[]', '"x"', 'null', '{"hold":1}', '{"released":"yes"}'])('file that says %j holds', (text) => {
    const recordings = scratch()
    const tape = tapeIn(recordings)
    put(recordings, 'inbox/a.hold.json', text)
    expect(holdOf(tape, undefined)?.reason).toContain('is no hold file')
  })

  test('file that cannot be read holds', () => {
    const recordings = scratch()
    mkdirSync(join(recordings, 'inbox/a.hold.json'), { recursive: true })
    expect(holdOf(tapeIn(recordings), undefined)?.reason).toMatch(/a\.hold\.json cannot be read \(EISDIR\)/)
  })

  test('on a tape that is not there, or not in the inbox, is refused and leaves nothing', () => {
    const recordings = scratch()
    const golden = putTape(recordings, 'golden/a')
    mkdirSync(join(recordings, 'inbox'))
    expect(errorOf(() => placeHold(recordings, golden, 'x')).code).toBe('HARVEST_RECORDINGS_GOLDEN')
    expect(errorOf(() => placeHold(recordings, join(recordings, 'inbox/x.tape.jsonl'), 'x')).code).toBe(
      'HARVEST_TAPE_MISSING',
    )
    expect(names(recordings)).toEqual([])
  })
})

describe('pruning', () => {
  const now = Date.parse('2026-06-01T00:00:00.000Z')
  const [past, future] = ['2026-05-31T23:59:59.999Z', '2026-06-01T00:00:00.001Z']

  function inbox(): string {
    const recordings = scratch()
    const tape = (name: string, retention: object | undefined, header: object = {}) =>
      putTape(recordings, `inbox/${name}`, {
        header: { id: name, ...header },
        close: retention === undefined ? {} : { retention: retention as never },
      })
    tape('expired', { class: 'clean', until: past })
    tape('incident', { class: 'incident', until: past })
    tape('kept', { class: 'clean', until: future })
    tape('endless', { class: 'clean' })
    tape('young', { class: 'clean' }, { startedAt: '2026-05-30T00:00:00.000Z' })
    tape('flagged', { class: 'flagged' })
    tape('plain', undefined)
    tape('held', { class: 'clean', until: past })
    placeHold(recordings, join(recordings, 'inbox/held.tape.jsonl'), 'claim 4711')
    tape('born-held', { class: 'clean', until: past, hold: 'claim 7' })
    putTape(recordings, 'inbox/cut', { close: null })
    put(recordings, 'inbox/noise.tape.jsonl', 'noise')
    putTape(recordings, 'golden/g/case', { close: { retention: { class: 'clean', until: past } } })
    return recordings
  }
  const tapes = (recordings: string) =>
    [...names(recordings), ...readdirSync(join(recordings, 'golden/g'))]
      .filter((name) => name.endsWith('.tape.jsonl'))
      .map((name) => name.replace('.tape.jsonl', ''))
      .sort()
  const ids = (list: readonly { readonly id?: string }[]) => list.map(({ id }) => id).sort()

  test('removes what has expired, never what is held, golden, unfinished or without an end', async () => {
    const recordings = inbox()
    const { removed, held, failed } = await pruneTapes({ recordings, now })
    expect([ids(removed), ids(held.map(({ tape }) => tape)), failed]).toEqual([
      ['expired', 'incident'],
      ['born-held', 'held'],
      [],
    ])
    expect(tapes(recordings)).toEqual([
      'born-held',
      'case',
      'cut',
      'endless',
      'flagged',
      'held',
      'kept',
      'noise',
      'plain',
      'young',
    ])
    expect((await pruneTapes({ recordings, now })).removed).toEqual([])
  })

  test('with an age and a class also removes older ones of that class that have no end', async () => {
    const startedBefore = Date.parse('2026-05-01T00:00:00.000Z')
    const recordings = inbox()
    const clean = await pruneTapes({ recordings, now, without: { retention: 'clean', startedBefore } })
    expect(ids(clean.removed)).toEqual(['endless', 'expired', 'incident'])
    const none = await pruneTapes({ recordings, now, without: { retention: 'none', startedBefore } })
    expect(ids(none.removed)).toEqual(['plain'])
    expect(tapes(recordings)).toEqual(['born-held', 'case', 'cut', 'flagged', 'held', 'kept', 'noise', 'young'])
  })

  test('as a dry run says the same and removes nothing', async () => {
    const recordings = inbox()
    const before = tapes(recordings)
    const { removed, held } = await pruneTapes({ recordings, now, dryRun: true })
    expect([ids(removed), ids(held.map(({ tape }) => tape))]).toEqual([
      ['expired', 'incident'],
      ['born-held', 'held'],
    ])
    expect(tapes(recordings)).toEqual(before)
  })

  test('goes on when one tape cannot be removed, and says which', async () => {
    const recordings = inbox()
    fs['renameSync'] = (...args) => {
      if (String(args[0]).includes('expired')) throw Object.assign(new Error('EROFS: read-only'), { code: 'EROFS' })
      return originals['renameSync']!(...args)
    }
    syncBuiltinESMExports()
    const { removed, failed } = await pruneTapes({ recordings, now })
    restore()
    expect(ids(removed)).toEqual(['incident'])
    expect(failed.map(({ tape, error }) => [tape.id, error.code])).toEqual([['expired', 'HARVEST_RECORDINGS_REMOVE']])
    expect(tapes(recordings)).toContain('expired')
  })

  test('believes the tape, not an index that is behind', async () => {
    const recordings = inbox()
    await pruneTapes({ recordings, now, dryRun: true })
    putTape(recordings, 'inbox/expired', {
      events: [call(1, 'x', {})],
      close: { retention: { class: 'clean', until: future! } },
    })
    expect(ids((await pruneTapes({ recordings, now })).removed)).toEqual(['incident'])
    expect(readFileSync(join(recordings, 'inbox/expired.tape.jsonl'), 'utf8')).toContain(future)
  })
})
