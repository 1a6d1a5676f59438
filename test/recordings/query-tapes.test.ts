import * as nodeFs from 'node:fs'
import { createRequire, syncBuiltinESMExports } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import { afterEach, describe, expect, onTestFinished, test } from 'vitest'
import {
  forgetTapes,
  type ListedTape,
  outcomeOf,
  queryTapes,
  readFacts,
  removeTapes,
  type TapeQuery,
} from '../../src/recordings/index.ts'
import type { TapeEvent } from '../../src/tape/index.ts'
import { filesBelow } from '../../src/recordings/files.ts'
import { age } from './files-in-past.ts'
import { call, put, putTape, scratch, type TapeParts, tapeText } from './make.ts'
import { modelCall } from './model-call.ts'

const {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} = nodeFs

const at = (day: number) => ({ startedAt: `2026-03-${`${day}`.padStart(2, '0')}T05:06:07.089Z` })

/** Names of the tapes a question finds, in order. */
async function found(recordings: string, query: TapeQuery = {}): Promise<readonly string[]> {
  const { tapes, unreadable } = await queryTapes(recordings, query)
  return [...tapes, ...unreadable].map(({ file }) => basename(file, '.tape.jsonl'))
}

describe('a question', () => {
  const answers: readonly (readonly [string, TapeQuery, readonly string[]])[] = [
    ['for all', {}, ['old', 'cheap', 'dear', 'cut', 'case', 'noise']],
    ['for an agent', { filter: { agent: 'search' } }, ['dear']],
    ['for returned runs', { filter: { outcome: 'returned' } }, ['old', 'cheap', 'case']],
    ['for thrown ones', { filter: { outcome: 'threw' } }, ['dear']],
    ['for truncated ones', { filter: { outcome: 'truncated' } }, ['cut']],
    ['for unreadable ones', { filter: { outcome: 'unreadable' } }, ['noise']],
    ['for a model', { filter: { model: 'other-large' } }, ['dear']],
    ['for a model nobody asked whose name is a part of one', { filter: { model: 'other' } }, []],
    ['for a tool that was called', { filter: { tool: 'lookup_order' } }, ['old', 'cut', 'case']],
    ['for a tool a model asked for', { filter: { tool: 'refund' } }, ['dear']],
    ['for the beginning of a commit', { filter: { commit: '9ab' } }, ['dear']],
    ['for the whole commit of which the tape has the beginning', { filter: { commit: '9ab0c3d4e5' } }, ['dear']],
    ['for what costs at least', { filter: { minCostUsd: 0.001 } }, ['dear']],
    ['for what costs at most', { filter: { maxCostUsd: 0.001 } }, ['old', 'cheap', 'cut', 'case']],
    ['since', { filter: { since: Date.parse(at(4).startedAt) } }, ['cut', 'case']],
    ['until', { filter: { until: Date.parse(at(2).startedAt) } }, ['old']],
    ['for a reason to keep', { filter: { kept: 'flag' } }, ['dear']],
    ['for a class', { filter: { retention: 'incident' } }, ['dear']],
    ['for no class', { filter: { retention: 'none' } }, ['old', 'cheap', 'cut', 'case', 'noise']],
    ['for what has expired', { filter: { expiredBefore: Date.parse('2026-05-02T00:00:00Z') } }, ['dear']],
    ['for what has not', { filter: { expiredBefore: Date.parse('2026-05-01T00:00:00Z') } }, []],
    ['for the inbox', { filter: { place: 'inbox' } }, ['old', 'cheap', 'dear', 'cut', 'noise']],
    ['for the golden set', { filter: { place: 'golden' } }, ['case']],
    ['for two things at once', { filter: { outcome: 'returned', tool: 'lookup_order' } }, ['old', 'case']],
    ['for the newest two', { limit: 2 }, ['cut', 'case', 'noise']],
    ['for the dearest two', { sort: 'cost', limit: 2, filter: { place: 'inbox' } }, ['dear', 'cheap', 'noise']],
    ['for the longest', { sort: 'duration', limit: 1, filter: { outcome: 'returned' } }, ['cheap']],
    [
      'by steps',
      { sort: 'steps', filter: { place: 'inbox', until: Date.parse(at(4).startedAt) } },
      ['dear', 'cheap', 'old'],
    ],
  ]

  function recordingsWithAll(): string {
    const recordings = scratch()
    put(recordings, 'prices.json', '{"*":{"input":1,"output":10}}')
    putTape(recordings, 'inbox/old', { header: { id: 'old', ...at(1) } })
    putTape(recordings, 'inbox/cheap', { header: { id: 'cheap', ...at(2) }, events: [modelCall(1)], close: { at: 99 } })
    putTape(recordings, 'inbox/2026/dear', {
      header: { id: 'dear', agent: 'search', pins: { node: '24.21.0', commit: '9ab0c3d' }, ...at(3) },
      events: [modelCall(1, { model: 'other-large', tools: ['refund'], tokens: [9_000, 10] }), modelCall(20)],
      close: {
        outcome: { status: 'threw', error: 'x' },
        kept: [{ because: 'error' }, { because: 'flag', detail: 'a' }, { because: 'flag', detail: 'b' }],
        retention: { class: 'incident', until: '2026-05-01T00:00:00.000Z' },
      },
    })
    putTape(recordings, 'inbox/cut', { header: { id: 'cut', ...at(4) }, close: null })
    putTape(recordings, 'golden/g/case', { header: { id: 'run', ...at(5) } })
    put(recordings, 'inbox/noise.tape.jsonl', 'not a tape\n')
    put(recordings, 'inbox/.hidden/x.tape.jsonl', tapeText())
    put(recordings, 'inbox/.x.tape.jsonl.1.0123456789ab.tmp', tapeText())
    return recordings
  }

  test.for(answers)('%s finds exactly those, with an index and without', async ([, query, names]) => {
    const recordings = recordingsWithAll()
    // The first question makes the index, the second one asks it.
    expect(await found(recordings, query)).toEqual(names)
    expect(await found(recordings, query)).toEqual(names)
    renameSync(join(recordings, 'inbox'), join(recordings, 'elsewhere'))
    if (query.filter?.place === undefined) expect(await found(recordings, query)).toEqual(names)
  })

  describe('about what tapes say', () => {
    const refund = (amount: number, note = 'late'): readonly TapeEvent[] => [
      call(1, 'lookup_order', { order_id: 'A-17' }),
      call(5, 'refund', { amount, note, customer: { city: 'Wien' } }),
    ]
    function spoken(): string {
      const recordings = scratch()
      putTape(recordings, 'inbox/large', {
        header: { id: 'ticket-12', input: { ticket: 'Order ÄB-9 is broken' }, session: { id: 'chat-1' }, ...at(1) },
        events: refund(150),
      })
      putTape(recordings, 'inbox/small', {
        header: {
          id: 'ticket-13',
          attributes: { plan: 'pro', seats: 3 },
          subjects: ['s1AAAAAAAAAAAAAAAAAAAAAA'],
          ...at(2),
        },
        events: [...refund(20, 'VIP'), modelCall(10, { tools: ['approve'] })],
        close: { outcome: { status: 'returned', value: { answer: 'Refunded to card' } } },
      })
      putTape(recordings, 'golden/g/none', { header: { id: 'none', ...at(3) }, events: [] })
      put(recordings, 'inbox/noise.tape.jsonl', 'not a tape\n')
      return recordings
    }
    const asked: readonly (readonly [TapeQuery['filter'] & object, readonly string[]])[] = [
      [{ text: 'äb-9 IS' }, ['large']],
      [{ text: ['a-17', 'vip'] }, ['small']],
      [{ text: 'refunded to card' }, ['small']],
      [{ text: 'nowhere' }, []],
      [{ call: 'refund(amount > 100)' }, ['large']],
      [{ call: ['refund()', 'refund(customer.city=Wien, note ~ "vip")'] }, ['small']],
      [{ call: 're*(amount > 10)' }, ['large', 'small']],
      [{ call: 'refund() preceded by lookup_order()' }, ['large', 'small', 'none']],
      [{ call: 'never refund()' }, ['none']],
      [{ call: 'model asks approve()' }, ['small']],
      [{ call: 'run returns (answer ~ "card")' }, ['small']],
      [{ call: 'cost > 0.000001' }, ['small']],
      [{ call: 'refund()', text: 'wien', id: 'ticket-1' }, ['large', 'small']],
      [{ id: 'ticket-12' }, ['large']],
      [{ id: '12' }, []],
      [{ session: 'chat-1' }, ['large']],
      [{ subject: ['s1BBBBBBBBBBBBBBBBBBBBBB', 's1AAAAAAAAAAAAAAAAAAAAAA'] }, ['small']],
      [{ attributes: { plan: 'pro', seats: 3 } }, ['small']],
      [{ attributes: { plan: 'pr' } }, []],
    ]

    test.for(asked)('%j finds exactly those, with an index and without', async ([filter, names]) => {
      const recordings = spoken()
      put(recordings, 'prices.json', '{"*":{"input":1,"output":10}}')
      expect(await found(recordings, { filter })).toEqual(names)
      expect(await found(recordings, { filter })).toEqual(names)
      renameSync(join(recordings, 'inbox'), join(recordings, 'elsewhere'))
      expect(await found(recordings, { filter })).toEqual(names)
    })

    test('finds a tape by what it says now, when it was removed or written again', async () => {
      const recordings = spoken()
      const query = { filter: { text: 'wien' } }
      expect(await found(recordings, query)).toEqual(['large', 'small'])
      removeTapes(recordings, [join(recordings, 'inbox/large.tape.jsonl')])
      expect(await found(recordings, query)).toEqual(['small'])
      const index = Buffer.concat(
        readdirSync(join(recordings, 'inbox/.index'))
          .filter((name) => name.startsWith('tapes'))
          .map((name) => readFileSync(join(recordings, 'inbox/.index', name))),
      )
      expect(index.includes('äb-9')).toBe(false)
      rmSync(join(recordings, 'inbox/small.tape.jsonl'))
      putTape(recordings, 'inbox/small', { header: { id: 'small', ...at(2) }, events: [] })
      expect(await found(recordings, query)).toEqual([])
    })

    test('refuses a rule that does not read', async () => {
      await expect(found(spoken(), { filter: { call: 'refund(amount >' } })).rejects.toMatchObject({
        code: 'HARVEST_RULE_SYNTAX',
      })
    })
  })

  test('says how many more there are, how many in all, and how many have a cost nobody knows', async () => {
    const recordings = recordingsWithAll()
    rmSync(join(recordings, 'prices.json'))
    const { more, total, withoutCost } = await queryTapes(recordings, { limit: 1, filter: { maxCostUsd: 1 } })
    expect({ more, total, withoutCost }).toEqual({ more: 2, total: 6, withoutCost: 2 })
  })

  test('that finds nothing names the words no tape has, and the nearest', async () => {
    const { unknownWords } = await queryTapes(recordingsWithAll(), {
      filter: { agent: 'serch', tool: 'lookup_order', model: 'zzz' },
    })
    expect(unknownWords).toEqual([
      { option: 'agent', word: 'serch', nearest: 'search' },
      { option: 'model', word: 'zzz' },
    ])
  })

  test('about the inbox alone asks the same index', async () => {
    const recordings = recordingsWithAll()
    await found(recordings)
    expect(await found(join(recordings, 'inbox'))).toEqual(['old', 'cheap', 'dear', 'cut', 'noise'])
    expect(existsSync(join(recordings, 'inbox/inbox'))).toBe(false)
  })

  test('of recordings without an inbox, or that are not there, leaves no file', async () => {
    const recordings = scratch()
    expect(await found(recordings)).toEqual([])
    expect(existsSync(recordings)).toBe(false)
    putTape(recordings, 'golden/a')
    expect(await found(recordings)).toEqual(['a'])
    expect(nodeFs.readdirSync(recordings)).toEqual(['golden'])
  })

  test('says how a run ended, unless that takes a page', async () => {
    const recordings = scratch()
    const outcomes = [
      { status: 'threw', error: 'no\0 end \ud800' },
      { status: 'returned', value: 'x'.repeat(1_000) },
    ] as const
    for (const [n, outcome] of outcomes.entries()) putTape(recordings, `inbox/${n}`, { close: { outcome } })
    putTape(recordings, 'inbox/2', { close: null })
    for (const _ of ['read', 'remembered']) {
      const { tapes } = await queryTapes(recordings)
      expect(tapes.map(({ ended }) => ended)).toEqual([outcomes[0], undefined, undefined])
    }
  })

  test('a name that was recorded cannot pass for another one', async () => {
    const recordings = scratch()
    putTape(recordings, 'inbox/a', { events: [call(1, 'x"\ntool "refund', {})] })
    expect(await found(recordings, { filter: { tool: 'refund' } })).toEqual([])
    expect(await found(recordings, { filter: { tool: 'x"\ntool "refund' } })).toEqual(['a'])
  })
})

/** What a list must be: every file read, nothing remembered. */
async function truth(recordings: string): Promise<readonly unknown[]> {
  const files = filesBelow(recordings, (name) => name.endsWith('.tape.jsonl'))
  return Promise.all(
    files.map(async (file) => {
      const facts = await readFacts(file, statSync(file).size)
      const ended = facts.state === 'closed' ? outcomeOf(file) : undefined
      return { file, ...facts, ...(ended !== undefined && { ended }) }
    }),
  )
}

async function listed(recordings: string): Promise<readonly unknown[]> {
  const { tapes, unreadable, total } = await queryTapes(recordings)
  const all: readonly ListedTape[] = [...tapes, ...unreadable].sort((a, b) => (a.file < b.file ? -1 : 1))
  expect(total).toBe(all.length)
  return all.map(({ place: _, costUsd: __, ...facts }) => facts)
}

const fs = createRequire(import.meta.url)('node:fs') as Record<string, (...args: unknown[]) => unknown>
const { lstatSync } = fs
afterEach(() => {
  fs['lstatSync'] = lstatSync!
  syncBuiltinESMExports()
})

/** Makes the index and lets time pass, so that it rests on the times of the folders from now on. */
async function settled(recordings: string): Promise<void> {
  await queryTapes(recordings)
  age(recordings)
  await queryTapes(recordings)
}

describe('the index', () => {
  const folders = ['inbox', 'inbox/2026', 'golden', 'golden/g']
  const operation = fc.record({
    do: fc.constantFrom('write', 'finish', 'remove', 'rewrite', 'replace', 'damage', 'move folder', 'settle', 'ask'),
    folder: fc.constantFrom(...folders),
    name: fc.constantFrom('a', 'b', 'c'),
  })

  test('for every history of files, says what the files say', async () => {
    let number = 0
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { minLength: 3, maxLength: 14 }), async (history) => {
        const recordings = scratch()
        mkdirSync(join(recordings, 'inbox'), { recursive: true })
        for (const { do: deed, folder, name } of history) {
          number++
          const path = join(recordings, folder, `${name}.tape.jsonl`)
          const parts = (close: null | undefined): TapeParts => ({
            header: { id: `run-${number}` },
            ...(close === null && { close }),
          })
          const isThere = existsSync(path)
          if (deed === 'write' && !isThere)
            putTape(recordings, `${folder}/${name}`, parts(number % 2 ? null : undefined))
          if (deed === 'finish' && isThere) writeFileSync(path, tapeText(parts(undefined)))
          if (deed === 'remove') rmSync(path, { force: true })
          if (deed === 'rewrite' && isThere) writeFileSync(path, tapeText(parts(null)))
          if (deed === 'damage' && isThere) appendFileSync(path, 'noise\n')
          if (deed === 'replace' && isThere) {
            writeFileSync(`${path}.new`, tapeText(parts(undefined)))
            renameSync(`${path}.new`, path)
          }
          if (deed === 'move folder' && existsSync(join(recordings, 'inbox/2026'))) {
            rmSync(join(recordings, 'golden'), { recursive: true, force: true })
            renameSync(join(recordings, 'inbox/2026'), join(recordings, 'golden'))
          }
          if (deed === 'settle') age(recordings)
          if (deed === 'ask') expect(await listed(recordings)).toEqual(await truth(recordings))
        }
        expect(await listed(recordings)).toEqual(await truth(recordings))
        rmSync(dirname(recordings), { recursive: true })
      }),
      { numRuns: 60 },
    )
  })

  test('of an inbox where nothing happened does not look at the tapes that are not listed', async () => {
    const recordings = scratch()
    for (let n = 0; n < 50; n++)
      putTape(recordings, `inbox/run-${n}`, { header: { id: `run-${n}`, ...at(1 + (n % 28)) } })
    putTape(recordings, 'inbox/open', { header: { id: 'open' }, close: null })
    await settled(recordings)
    let looks = 0
    fs['lstatSync'] = (...args) => {
      if (String(args[0]).endsWith('.tape.jsonl')) looks++
      return lstatSync!(...args)
    }
    syncBuiltinESMExports()
    expect((await queryTapes(recordings, { limit: 3 })).tapes).toHaveLength(3)
    // Those listed, and the one that was being written.
    expect(looks).toBe(4)
  })

  test('notices a tape that came within the same tick of the clock of the disk', async () => {
    const recordings = scratch()
    putTape(recordings, 'inbox/run-1')
    await queryTapes(recordings)
    const tick = Date.now()
    fs['lstatSync'] = (...args) => {
      const stats = lstatSync!(...args) as nodeFs.Stats | undefined
      return stats?.isDirectory() === true ? Object.assign(stats, { mtimeMs: tick, ctimeMs: tick }) : stats
    }
    syncBuiltinESMExports()
    expect(await found(recordings)).toEqual(['run-1'])
    putTape(recordings, 'inbox/run-2', { header: { id: 'run-2' } })
    expect(await found(recordings)).toHaveLength(2)
  })

  test('is not asked about a tape whose recorder is still at it: its steps are counted anew', async () => {
    const recordings = scratch()
    const text = tapeText({ events: [call(1, 'a', {}), call(10, 'b', {})] })
    const lines = text.split('\n')
    const file = put(recordings, 'inbox/run-1.tape.jsonl', `${lines.slice(0, 2).join('\n')}\n`)
    await settled(recordings)
    expect((await queryTapes(recordings)).tapes).toMatchObject([{ state: 'truncated', steps: 1 }])
    appendFileSync(file, `${lines.slice(2).join('\n')}`)
    expect((await queryTapes(recordings)).tapes).toMatchObject([{ state: 'closed', steps: 2 }])
  })

  test('gives no row of a closed tape that was rewritten in place', async () => {
    const recordings = scratch()
    const file = putTape(recordings, 'inbox/run-1')
    putTape(recordings, 'inbox/run-2', { header: { id: 'run-2', agent: 'search' } })
    await settled(recordings)
    writeFileSync(file, tapeText({ header: { agent: 'search' } }))
    expect(await found(recordings, { filter: { agent: 'refund' } })).toEqual([])
    expect([...(await found(recordings, { filter: { agent: 'search' } }))].sort()).toEqual(['run-1', 'run-2'])
  })

  test('counts costs anew when the price table changes', async () => {
    const recordings = scratch()
    putTape(recordings, 'inbox/run-1', { events: [modelCall(1, { tokens: [1_000_000, 0] })] })
    await settled(recordings)
    const cost = async () => (await queryTapes(recordings)).tapes[0]?.costUsd
    const costs = [await cost()]
    put(recordings, 'prices.json', '{"invented-1":{"input":1,"output":1}}')
    costs.push(await cost())
    put(recordings, 'prices.json', '{"invented-1":{"input":2,"output":1}}')
    costs.push(await cost())
    expect(costs).toEqual([undefined, 1, 2])
  })

  test('holds nothing of a tape that was removed: no name, no word, in no byte of its files', async () => {
    const recordings = scratch()
    const secret = (n: number): TapeParts => ({
      header: { id: `secret-id-${n}`, agent: `secret-agent-${n}` },
      events: [call(1, `secret-tool-${n}`, {}), call(10, 'shared_tool', {})],
    })
    for (let n = 0; n < 30; n++) putTape(recordings, `inbox/secret-name-${n}`, secret(n))
    putTape(recordings, 'inbox/kept', { header: { id: 'kept' }, events: [call(1, 'shared_tool', {})] })
    await settled(recordings)
    // Written anew: what was known of it before is gone as well.
    const files = Array.from({ length: 30 }, (_, n) => putTape(recordings, `inbox/secret-name-${n}`, secret(n + 100)))
    await settled(recordings)
    const folder = join(recordings, 'inbox/.index')
    const held = (): boolean => readdirSync(folder).some((name) => readFileSync(join(folder, name)).includes('secret'))
    expect(held()).toBe(true)
    removeTapes(recordings, files)
    await forgetTapes(recordings, files)
    expect(held()).toBe(false)
    expect(await found(recordings, { filter: { tool: 'shared_tool' } })).toEqual(['kept'])
    expect((await queryTapes(recordings, { filter: { tool: 'secret-tool-1' } })).unknownWords[0]?.nearest).toBe(
      undefined,
    )
  })

  test('that somebody else reads while tapes are removed is made anew', async () => {
    const recordings = scratch()
    const file = putTape(recordings, 'inbox/secret-name', { header: { id: 'secret-id' } })
    putTape(recordings, 'inbox/kept', { header: { id: 'kept' } })
    await settled(recordings)
    const folder = join(recordings, 'inbox/.index')
    const other = new DatabaseSync(join(folder, 'tapes.sqlite'))
    onTestFinished(() => other.close())
    other.exec('BEGIN; SELECT count(*) FROM detail')
    other.prepare('SELECT * FROM detail').all()
    removeTapes(recordings, [file])
    await forgetTapes(recordings, [file])
    const left = existsSync(folder) ? readdirSync(folder).map((name) => readFileSync(join(folder, name))) : []
    expect(left.some((bytes) => bytes.includes('secret'))).toBe(false)
    expect(await found(recordings)).toEqual(['kept'])
  })

  test('stays out of git and of the way', async () => {
    const recordings = scratch()
    putTape(recordings, 'inbox/run-1')
    await queryTapes(recordings)
    expect(readFileSync(join(recordings, 'inbox/.index/.gitignore'), 'utf8')).toBe('*\n')
    expect(statSync(join(recordings, 'inbox/.index')).mode & 0o777).toBe(0o700)
  })
})

describe('an index that cannot be used', () => {
  async function indexed(): Promise<{ readonly recordings: string; readonly file: string }> {
    const recordings = scratch()
    for (const n of [1, 2, 3]) putTape(recordings, `inbox/run-${n}`, { header: { id: `run-${n}`, ...at(n) } })
    putTape(recordings, 'golden/a', { header: { id: 'a', ...at(4) } })
    await settled(recordings)
    return { recordings, file: join(recordings, 'inbox/.index/tapes.sqlite') }
  }
  const all = ['run-1', 'run-2', 'run-3', 'a']
  const noteOf = async (recordings: string): Promise<string | undefined> => {
    const { tapes, note } = await queryTapes(recordings)
    expect(tapes.map(({ id }) => id)).toEqual(all)
    return note
  }

  const harms: readonly (readonly [string, (file: string) => void, RegExp | undefined])[] = [
    ['that was deleted is made', (file) => rmSync(dirname(file), { recursive: true }), undefined],
    ['whose database was deleted is made', (file) => rmSync(file), undefined],
    ['that is empty is filled', (file) => writeFileSync(file, ''), undefined],
    [
      'that is no database is made anew',
      (file) => writeFileSync(file, 'not a database'.repeat(400)),
      /rebuilt: file is not a database/,
    ],
    ['of another version is filled anew', (file) => sql(file, 'PRAGMA user_version = 77'), undefined],
    ['with other tables is made anew', (file) => sql(file, 'DROP TABLE detail'), /rebuilt: no such table/],
    [
      'with a row that was changed is made anew',
      (file) => sql(file, "UPDATE detail SET facts = replace(facts, 'refund', 'refuse')"),
      /rebuilt: it is damaged/,
    ],
    [
      'with a row that lost its details is made anew',
      (file) => sql(file, 'DELETE FROM detail WHERE tape = 1'),
      /rebuilt: it is damaged/,
    ],
    ['that was cut is made anew', (file) => nodeFs.truncateSync(file, 8_192), /rebuilt: /],
    [
      'whose place is taken by a file is done without',
      (file) => {
        rmSync(dirname(file), { recursive: true })
        writeFileSync(dirname(file), '')
      },
      /could not be used, so every tape was read: ENOTDIR/,
    ],
    [
      'whose place is taken by a link is done without',
      (file) => {
        rmSync(dirname(file), { recursive: true })
        symlinkSync(scratch(), dirname(file))
      },
      /could not be used, so every tape was read/,
    ],
    [
      'whose database is a folder is done without',
      (file) => {
        rmSync(file)
        mkdirSync(file)
      },
      /could not be used, so every tape was read: unable to open/,
    ],
  ]

  test.for(harms)('%s: the answer is the same', async ([, harm, note]) => {
    const { recordings, file } = await indexed()
    harm(file)
    const said = await noteOf(recordings)
    if (note === undefined) expect(said).toBeUndefined()
    else expect(said).toMatch(note)
    if (!note?.source.includes('could not')) expect(await noteOf(recordings)).toBeUndefined()
  })

  test('for every damage to its bytes gives no wrong row', async () => {
    const { recordings, file } = await indexed()
    const whole = readFileSync(file)
    const right = await truth(recordings)
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(whole.length - 1), { minLength: 1, maxLength: 60 }), async (places) => {
        const bytes = Buffer.from(whole)
        for (const place of places) bytes[place] = bytes[place]! ^ 0x41
        rmSync(dirname(file), { recursive: true, force: true })
        mkdirSync(dirname(file))
        writeFileSync(file, bytes)
        const { tapes } = await queryTapes(recordings)
        for (const { place: _, costUsd: __, ...facts } of tapes) expect(right).toContainEqual(facts)
      }),
      { numRuns: 60 },
    )
  })

  test('that somebody holds is done without, and used again afterwards', async () => {
    const { recordings, file } = await indexed()
    const holder = new DatabaseSync(file)
    holder.exec('BEGIN EXCLUSIVE')
    // Nothing to write: the index answers.
    expect(await noteOf(recordings)).toBeUndefined()
    putTape(recordings, 'inbox/run-4', { header: { id: 'run-4', ...at(9) } })
    const { tapes, note } = await queryTapes(recordings)
    expect(tapes.map(({ id }) => id)).toEqual([...all, 'run-4'])
    expect(note).toBe('the index of the tapes could not be used, so every tape was read: database is locked')
    holder.exec('ROLLBACK')
    holder.close()
    expect((await queryTapes(recordings)).note).toBeUndefined()
  })
})

function sql(file: string, statement: string): void {
  const database = new DatabaseSync(file)
  database.exec(statement)
  database.close()
}
