import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { loadCase } from '../../src/cases/index.ts'
import { placePromotion, preparePromotion, promote, type PromoteOptions } from '../../src/recordings/index.ts'
import { encodeValue, type HeaderPair, type Json, type Outcome } from '../../src/tape/index.ts'
import { call, errorOf, exchange, messageOf, put, putTape, scratch, tapeText, type TapeParts } from './make.ts'

// Invented, and put together here so that no scanner takes this file for a leak.
const secret = ['sk', 'ant', 'api03', 'Zm9vYmFyYmF6cXV4'.repeat(5), 'AA'].join('-')

function promoted(parts: TapeParts, options: Partial<PromoteOptions> = {}) {
  const recordings = scratch()
  const tape = putTape(recordings, 'inbox/run-1', parts)
  return promote({ recordings, tape, as: 'refund-100x', ...options })
}

/** Every file below a folder. */
function files(folder: string): readonly string[] {
  return existsSync(folder)
    ? readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((name) => statSync(join(folder, name)).isFile())
        .sort()
    : []
}

test('a kind of finding that is no secret here may be allowed, and no other with it', () => {
  const mail = call(2, 'mail', { to: 'jane.doe@example.com' })
  expect(promoted({ events: [mail] }, { rescan: { off: ['email'] } }).content.id).toBe('refund-100x')
  const both = [call(1, 'login', { key: secret }), mail]
  const refused = messageOf(() => promoted({ events: both }, { rescan: { off: ['email'] } }))
  expect(refused).toContain('line 2: anthropic-key')
  expect(refused).not.toContain(': email')
})

test('the calls of a known-bad run are written with their values, unless they are long', () => {
  const events = [call(1, 'refund', { amount: 2500 }), call(5, 'note', { text: 'a'.repeat(300) })]
  expect(promoted({ events }, { expect: 'fail', ok: ['refund(amount: 25)'] }).content).toMatchObject({
    baseline: ['refund(amount: 2500)', 'note(text)'],
    ok: ['refund(amount: 25)'],
  })
})

test('a promotion names the cases that check the same', () => {
  const recordings = scratch()
  const twin = (id: string, as: string, input: Json, amount = 25) => {
    const tape = putTape(recordings, `inbox/${id}`, { events: [call(1, 'refund', { amount })], header: { id, input } })
    return preparePromotion({ recordings, tape, as })
  }
  placePromotion(twin('run-1', 'first', { text: 'a' }))
  expect(twin('run-2', 'second', { text: 'a' }).twins).toMatchObject([{ id: 'first', isSameInput: true }])
  expect(twin('run-3', 'third', { text: 'b' }).twins).toMatchObject([{ id: 'first', isSameInput: false }])
  const file = join(recordings, 'golden/first.case.yaml')
  const text = readFileSync(file, 'utf8')
  put(recordings, 'golden/first.case.yaml', text.replace('refunded: 25', 'refunded: 26'))
  expect(twin('run-4', 'fourth', { text: 'a' }).twins, 'another outcome').toEqual([])
  put(recordings, 'golden/first.case.yaml', text.replace('refunded: 25', '"refun\\x64ed": 25'))
  expect(twin('run-5', 'fifth', { text: 'a' }).twins, 'written otherwise').toMatchObject([{ id: 'first' }])
})

test('a tape becomes a case: baseline, outcome and pins are read from it', () => {
  const chat = exchange(10, '{"model":"gpt-y","messages":[{"role":"user","content":"hi"}]}', ['data: [DONE]\n\n'])
  const events = [
    call(1, 'lookup_order', { order_id: 'A-17' }),
    call(5, 'refund', { order_id: 'A-17', amount: 25 }),
    chat,
  ]
  const { text } = promoted(
    { events },
    { title: 'Never refunds too much', tags: ['incident'], lesson: { wrong: 'refunded 2500' } },
  )
  expect(text.replaceAll(/sha256-[\w-]+/g, 'sha256-…')).toMatchInlineSnapshot(`
    "# yaml-language-server: $schema=../../node_modules/vitest-harvest/case.schema.json
    case: refund-100x
    agent: refund
    tape: refund-100x.tape.jsonl
    expect: pass
    title: Never refunds too much
    tags: [incident]
    lesson:
      wrong: refunded 2500
    pins:
      commit: 4f2a9c1
      models: [gpt-y]
      node: 24.21.0
      recorder: vitest-harvest/0.1.0
    baseline:
      - lookup_order(order_id)
      - refund(amount, order_id)
    outcome:
      refunded: 25
    "
  `)
})

test('what was written loads as what was returned, with the tape beside it, byte for byte', () => {
  const recordings = scratch()
  const tape = putTape(recordings, 'inbox/run-1')
  const { caseFile, tapeFile, content, text } = promote({ recordings, tape, as: 'refund-100x', group: 'limits' })
  expect(caseFile).toBe(join(recordings, 'golden/limits/refund-100x.case.yaml'))
  expect(tapeFile).toBe(join(recordings, 'golden/limits/refund-100x.tape.jsonl'))
  expect(readFileSync(caseFile, 'utf8')).toBe(text)
  expect(loadCase(caseFile)).toEqual(content)
  expect(readFileSync(tapeFile)).toEqual(readFileSync(tape))
  expect(files(dirname(caseFile))).toEqual(['refund-100x.case.yaml', 'refund-100x.tape.jsonl'])
})

test('the schema for editors is named from where the case lies', () => {
  const schemaOf = (group?: string) => promoted({}, group === undefined ? {} : { group }).text.split('\n')[0]
  expect(schemaOf()).toBe('# yaml-language-server: $schema=../../node_modules/vitest-harvest/case.schema.json')
  expect(schemaOf('limits')).toBe(
    '# yaml-language-server: $schema=../../../node_modules/vitest-harvest/case.schema.json',
  )
})

test('a tape is named by its path, its whole id, or as the latest', () => {
  for (const word of ['inbox/run-1.tape.jsonl', 'run-1', 'latest']) {
    const recordings = scratch()
    putTape(recordings, 'inbox/run-1')
    const tape = word.includes('/') ? join(recordings, word) : word
    expect(promote({ recordings, tape, as: 'a' }).content.id, word).toBe('a')
  }
})

test('the beginning of an id promotes nothing', () => {
  const recordings = scratch()
  putTape(recordings, 'inbox/run-1')
  expect(messageOf(() => promote({ recordings, tape: 'run', as: 'a' }))).toContain('HARVEST_TAPE_AMBIGUOUS')
})

test('a tape from anywhere can be promoted', () => {
  const recordings = scratch()
  const elsewhere = put(dirname(recordings), 'downloaded.tape.jsonl', tapeText())
  expect(promote({ recordings, tape: elsewhere, as: 'a' }).tapeFile).toBe(join(recordings, 'golden/a.tape.jsonl'))
})

test('the agent and how traces are compared can be told', () => {
  const { content } = promoted({}, { agent: 'refund-v2', match: { args: 'exact' }, expect: 'fail' })
  expect(content).toMatchObject({
    agent: 'refund-v2',
    expect: 'fail',
    match: { args: 'exact' },
    baseline: ['lookup_order(order_id: "A-17")'],
  })
})

describe('an outcome is asserted when it is plain JSON and small:', () => {
  const outcomes: readonly (readonly [string, Outcome, Json | undefined])[] = [
    ['a map', { status: 'returned', value: { refunded: 25 } }, { refunded: 25 }],
    ['null', { status: 'returned', value: null }, null],
    ['nothing', { status: 'returned' }, undefined],
    ['a date', { status: 'returned', value: { at: { $type: 'date', value: '2026-03-04T00:00:00.000Z' } } }, undefined],
    ['a long text', { status: 'returned', value: 'x'.repeat(2_100) }, undefined],
    ['a key that a case refuses', { status: 'returned', value: { constructor: 'x' } as unknown as Json }, undefined],
    [
      'the shape of an error',
      { status: 'threw', error: encodeValue(Object.assign(new TypeError('no stock'), { status: 409, headers: {} })) },
      { $threw: { name: 'TypeError', message: 'no stock', status: 409 } },
    ],
    ['a thrown text', { status: 'threw', error: 'stop' }, { $threw: 'stop' }],
    [
      'an error too long to be reviewed',
      { status: 'threw', error: encodeValue(new Error('x'.repeat(2_100))) },
      undefined,
    ],
    ['an exit', { status: 'exited', code: 1 }, undefined],
  ]
  test.each(outcomes)('%s', (_, outcome, expected) => {
    expect(promoted({ close: { outcome } }).content.outcome).toEqual(expected)
  })
})

test('credentials as the recorder writes them are no secrets', () => {
  const { request, response, ...rest } = exchange(1, '{}', ['{}'])
  const promotable = (credential: HeaderPair, given: readonly HeaderPair[] = []) =>
    promoted({
      events: [
        {
          ...rest,
          request: { ...request, headers: [...request.headers, credential] },
          response: { ...response!, headers: [...response!.headers, ...given] },
        },
      ],
    })
  const written: readonly HeaderPair[] = [
    ['authorization', 'Bearer [key-1]'],
    ['authorization', 'AWS4-HMAC-SHA256 [key-2]'],
    ['cookie', 'lang=[key-2]; sid=[key-1]'],
    ['x-api-key', '[key-1]'],
  ]
  for (const header of written) expect(() => promotable(header)).not.toThrow()
  const given: HeaderPair = ['set-cookie', 'sid=redacted-secret-1; Path=/; HttpOnly']
  expect(() => promotable(['x-api-key', '[key-1]'], [given])).not.toThrow()
  for (const [header, answer] of [
    [['cookie', 'lang=[key-2]; sid=9f8e7d6c5b4a'], []],
    [['authorization', 'Basic Z3JldGE6c2VjcmV0'], []],
    [['x-api-key', '[key-1]'], [['set-cookie', 'sid=9f8e7d6c5b4a; Path=/']]],
  ] as const) {
    expect(messageOf(() => promotable(header, answer))).toContain('(HARVEST_PROMOTE_SECRET)')
  }
})

describe('refused, with nothing written:', () => {
  function refusal(
    parts: TapeParts,
    options: Partial<PromoteOptions> = {},
  ): { message: string; left: readonly string[] } {
    const recordings = scratch()
    const tape = putTape(recordings, 'inbox/run-1', parts)
    const message = messageOf(() => promote({ recordings, tape, as: 'refund-100x', ...options }))
    return { message, left: files(join(recordings, 'golden')) }
  }

  test('a truncated tape', () => {
    const { message, left } = refusal({ close: null })
    expect(message).toMatchInlineSnapshot(`
      "Cannot promote a truncated tape: its outcome is missing

        tape   <root>/recordings/inbox/run-1.tape.jsonl
        holds  1 event(s) and no closing line

      The process ended before its run did, or the end of the file was lost.
      → record the run again
      → to see what was recorded: npx vitest-harvest show <root>/recordings/inbox/run-1.tape.jsonl
      (HARVEST_PROMOTE_TRUNCATED)"
    `)
    expect(left).toEqual([])
  })

  test('the tape of a whole program, unless an agent is named', () => {
    const header = { command: { argv: ['node', 'src/nightly.js'], cwd: '.' } }
    const { message, left } = refusal({ header })
    expect(message).toMatchInlineSnapshot(`
      "Cannot promote the tape of a whole program

        tape     <root>/recordings/inbox/run-1.tape.jsonl
        program  node src/nightly.js

      A case calls a function of the Vitest config; a program is run again by its command.
      → to run it again: npx vitest-harvest replay <root>/recordings/inbox/run-1.tape.jsonl
      → to make a case: record its main function with recorder.run, and name that in harvest({ agents })
      → or name an agent that does what the program did: --agent '<name>'
      (HARVEST_PROMOTE_PROGRAM)"
    `)
    expect(left).toEqual([])
    expect(promoted({ header, events: [call(1, 'lookup_order', {})] }, { agent: 'refund' }).content.agent).toBe(
      'refund',
    )
  })

  test('a tape whose recording failed on the way', () => {
    const { message, left } = refusal({ close: { incomplete: 'disk full after event 12' } })
    expect(message).toMatchInlineSnapshot(`
      "Cannot promote an incomplete tape: its recording failed

        tape    <root>/recordings/inbox/run-1.tape.jsonl
        reason  disk full after event 12

      A replay would miss the events that were not recorded.
      → record the run again
      → to see what was recorded: npx vitest-harvest show <root>/recordings/inbox/run-1.tape.jsonl
      (HARVEST_PROMOTE_INCOMPLETE)"
    `)
    expect(left).toEqual([])
  })

  test('a tape with a secret, which is told by kind and line and never shown', () => {
    const { message, left } = refusal({
      events: [call(1, 'login', { key: secret }), call(2, 'mail', { to: 'jane.doe@example.com' })],
    })
    expect(message).toMatchInlineSnapshot(`
      "The tape holds what looks like a secret, and cases are committed

        tape  <root>/recordings/inbox/run-1.tape.jsonl

        line 2: anthropic-key
        line 3: email

      → record the run again: the recorder removes secrets before it writes
      → to see it: npx vitest-harvest show <root>/recordings/inbox/run-1.tape.jsonl
      → if it is not a secret: --allow-secret anthropic-key --allow-secret email
      (HARVEST_PROMOTE_SECRET)"
    `)
    expect(message).not.toContain(secret.slice(10, 30))
    expect(left).toEqual([])
  })

  test('a tape with a secret that came in pieces', () => {
    const pieces = [`data: {"text":"${secret.slice(0, 20)}`, `${secret.slice(20)}"}\n\n`]
    const { message } = refusal({ events: [exchange(1, '{}', pieces)] })
    expect(message).toContain('response of event 1: ')
    expect(message).not.toContain(secret.slice(10, 30))
  })

  test('an id that is no file name', () => {
    expect(refusal({}, { as: 'Refund 100x!' }).message).toMatchInlineSnapshot(`
      "Invalid id of a case: 'Refund 100x!'

      It becomes the name of a file, so it must be a slug: lower-case letters, digits, ".", "_" and "-", at most 128, beginning with a letter or digit, and no device name of Windows.
      → did you mean: --as refund-100x
      (HARVEST_PROMOTE_ID)"
    `)
    for (const as of ['../a', 'a/b', '', 'con', '.a', 'a\0b', 'A'])
      expect(refusal({}, { as }).message).toContain('(HARVEST_PROMOTE_ID)')
    for (const group of ['..', 'a/b', 'nul', ''])
      expect(refusal({}, { group }).message).toContain('(HARVEST_PROMOTE_ID)')
  })

  test('an agent, a title or tags that make no case', () => {
    expect(refusal({}, { tags: ['a b'] })).toMatchObject({
      left: [],
      message: expect.stringContaining('(HARVEST_CASE_VALUE)') as string,
    })
    expect(refusal({ header: { agent: '' } }).message).toContain('(HARVEST_CASE_VALUE)')
  })

  test('a tape that was changed after it was recorded', () => {
    const recordings = scratch()
    const tape = put(recordings, 'inbox/a.tape.jsonl', tapeText().replace('A-17', 'A-18'))
    expect(errorOf(() => promote({ recordings, tape, as: 'a' })).code).toBe('HARVEST_TAPE_TAMPERED')
    expect(files(join(recordings, 'golden'))).toEqual([])
  })

  test('a linked tape and a missing one', () => {
    const recordings = scratch()
    const tape = putTape(recordings, 'inbox/run-1')
    symlinkSync(tape, join(recordings, 'inbox/link.tape.jsonl'))
    const promoting = (name: string) =>
      errorOf(() => promote({ recordings, tape: join(recordings, 'inbox', name), as: 'a' })).code
    expect(promoting('link.tape.jsonl')).toBe('HARVEST_TAPE_UNREADABLE')
    expect(promoting('none.tape.jsonl')).toBe('HARVEST_TAPE_MISSING')
  })

  test('a golden set, or a group, that is a link', () => {
    const recordings = scratch()
    const tape = putTape(recordings, 'inbox/run-1')
    const outside = join(dirname(recordings), 'outside')
    mkdirSync(outside)
    symlinkSync(outside, join(recordings, 'golden'))
    expect(messageOf(() => promote({ recordings, tape, as: 'a', group: 'g' }))).toMatchInlineSnapshot(`
      "Refused to write through a symbolic link

        link  <root>/recordings/golden

      The target of a link is neither reviewed nor committed.
      → to see its target: ls -l <root>/recordings/golden
      → replace the link with the file or folder itself
      (HARVEST_RECORDINGS_LINK)"
    `)
    rmSync(join(recordings, 'golden'))
    mkdirSync(join(recordings, 'golden'))
    symlinkSync(outside, join(recordings, 'golden/g'))
    expect(errorOf(() => promote({ recordings, tape, as: 'a', group: 'g' })).code).toBe('HARVEST_RECORDINGS_LINK')
    expect(readdirSync(outside)).toEqual([])
  })
})

test('secrets can be looked for by rules of one’s own, or not at all', () => {
  const events = [call(1, 'lookup', { customer: 'CUST-12345' })]
  const rules = [{ kind: 'customer-number', pattern: /CUST-\d+/g }]
  expect(errorOf(() => promoted({ events }, { rescan: { rules } })).message).toContain('line 2: customer-number')
  expect(promoted({ events: [call(1, 'login', { key: secret })] }, { rescan: false }).content.id).toBe('refund-100x')
})

test('an id that a case has already is refused, wherever in the golden set it lies', () => {
  const recordings = scratch()
  const tape = putTape(recordings, 'inbox/run-1')
  const { caseFile, text } = promote({ recordings, tape, as: 'refund-100x', group: 'limits' })
  expect(messageOf(() => promote({ recordings, tape, as: 'refund-100x' }))).toMatchInlineSnapshot(`
    "A case exists with the id refund-100x

      case  <root>/recordings/golden/limits/refund-100x.case.yaml

    Ids are unique in the golden set, and a promotion never replaces a case.
    → choose another id
    → to replace it, take it out first: npx vitest-harvest tapes demote refund-100x
    (HARVEST_PROMOTE_EXISTS)"
  `)
  renameSync(caseFile, join(dirname(caseFile), 'renamed.case.yaml'))
  expect(errorOf(() => promote({ recordings, tape, as: 'refund-100x', group: 'limits' })).code).toBe(
    'HARVEST_PROMOTE_EXISTS',
  )
  expect(readFileSync(join(dirname(caseFile), 'renamed.case.yaml'), 'utf8')).toBe(text)
})

test('a case file that cannot be read still holds its name', () => {
  const recordings = scratch()
  const tape = putTape(recordings, 'inbox/run-1')
  put(recordings, 'golden/a.case.yaml', '{')
  expect(errorOf(() => promote({ recordings, tape, as: 'a' })).code).toBe('HARVEST_PROMOTE_EXISTS')
  expect(readFileSync(join(recordings, 'golden/a.case.yaml'), 'utf8')).toBe('{')
})

test('the tape an interrupted promotion left is taken up; another tape of that name is not touched', () => {
  const recordings = scratch()
  const tape = putTape(recordings, 'inbox/run-1')
  put(recordings, 'golden/a.tape.jsonl', readFileSync(tape))
  expect(promote({ recordings, tape, as: 'a' }).content.id).toBe('a')
  const other = put(recordings, 'golden/b.tape.jsonl', tapeText({ header: { id: 'run-2' } }))
  const before = readFileSync(other)
  expect(messageOf(() => promote({ recordings, tape, as: 'b' }))).toMatchInlineSnapshot(`
    "A tape of this name exists without a case

      file  <root>/recordings/golden/b.tape.jsonl

    An interrupted promotion leaves its tape; another one may be running.
    → choose another id
    → if it is obsolete: rm <root>/recordings/golden/b.tape.jsonl
    (HARVEST_PROMOTE_EXISTS)"
  `)
  expect(readFileSync(other)).toEqual(before)
})

test('promoting leaves the inbox as it was', () => {
  const recordings = scratch()
  const tape = putTape(recordings, 'inbox/run-1')
  const before = readFileSync(tape)
  promote({ recordings, tape, as: 'a' })
  expect(readFileSync(tape)).toEqual(before)
  expect(lstatSync(join(recordings, 'golden/a.tape.jsonl')).nlink).toBe(1)
})
