import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { HarvestError } from '../../src/errors/index.ts'
import type { TapeEvent, TapeHeader } from '../../src/tape/index.ts'
import { parseTape, readTape, readTapeHeader, serializeTape, streamTape } from '../../src/tape/index.ts'
import { requireClosed } from '../../src/tape/closed.ts'
import { sealLine } from '../../src/tape/digest.ts'
import { readBytes } from '../../src/tape/read.ts'
import { call, closing, exchange, fileOf, header, mark, messageOf, scratch, thrownBy } from './make.ts'

const source = 'recordings/golden/refund.tape.jsonl'
const good = serializeTape(header, [call(1, 'lookup_order', { id: 'A-17' }), mark(10, 'paid')], closing)

/** A tape with digests that are right and content that is not: what an attacker would write. */
function sealed(...lines: readonly (object | string)[]): string {
  let digest = ''
  return lines
    .map((line) => {
      const made = sealLine(digest, typeof line === 'string' ? line : JSON.stringify(line))
      digest = made.digest
      return made.bytes.toString('utf8')
    })
    .join('')
}

/** A line sealed as bytes: text would be made well-formed. */
function sealBytes(previous: string, json: Buffer): Buffer {
  const digest = createHash('sha256').update(previous).update(json).digest().subarray(0, 16).toString('base64url')
  return Buffer.concat([json.subarray(0, -1), Buffer.from(`,"#":"${digest}"}\n`)])
}

function refusal(text: string): string {
  return messageOf(thrownBy(() => parseTape(text, source)))
}

test('a truncated tape says what it holds, and that it is one', () => {
  const tape = parseTape(serializeTape(header, [call(1, 'lookup_order')]), source)
  expect(messageOf(thrownBy(() => requireClosed(tape)))).toMatchInlineSnapshot(`
    "The tape is truncated: it has no closing line

      tape   recordings/golden/refund.tape.jsonl
      holds  1 event(s), 1 step(s)

    The process ended before its run did, or the end of the file was lost.
    → to see what was recorded up to there: npx vitest-harvest show recordings/golden/refund.tape.jsonl
    (HARVEST_TAPE_TRUNCATED)"
  `)
  expect(requireClosed(parseTape(good, source)).close.events).toBe(2)
})

test('a tape cut inside its header cannot be loaded', () => {
  expect(refusal(good.slice(0, 50))).toMatchInlineSnapshot(`
    "The tape ends inside its header

      tape  recordings/golden/refund.tape.jsonl:1

    The process ended, or the file was cut, before the first line was complete.
    (HARVEST_TAPE_TRUNCATED)"
  `)
})

test('a broken line is named by file and line', () => {
  const lines = good.split('\n')
  lines[1] = lines[1]!.slice(0, 40)
  expect(refusal(lines.join('\n'))).toMatchInlineSnapshot(`
    "Invalid line in the tape

      tape     recordings/golden/refund.tape.jsonl:2
      problem  Unterminated string in JSON at position 40 (line 1 column 41)

    An editor, a merge or a failing disk changed this line.
    → to get the committed tape back: git restore --staged --worktree recordings/golden/refund.tape.jsonl
    → if it was never committed: record the run again
    (HARVEST_TAPE_LINE)"
  `)
})

test('what a broken line holds cannot move the cursor of a terminal', () => {
  expect(refusal(`${good}\u001b[2J\u009b1m\u202e`)).not.toMatch(/[\u0000-\u0009\u001b\u009b\u202e]/)
  expect(refusal(sealed({ ...header, flags: ['\u001b[2J'] }))).toContain('\\u001b[2J')
})

test('whatever stands behind the closing line is a broken line, half a line and zero bytes too', () => {
  for (const more of ['{"kind":', '{', '\0\0\0', '\n', '\n\n', ' ', '{"kind":"mark","n":90,"at":1}\n'])
    expect(refusal(good + more)).toMatch(/refund\.tape\.jsonl:5\n.*it stands after the closing line/s)
})

test('text after the last line that can be no event is a broken line', () => {
  const [head = '', event = ''] = good.split('\n')
  expect(refusal(`${head}\n${event}\n<<<<<<< HEAD`)).toMatchInlineSnapshot(`
    "Invalid line in the tape

      tape     recordings/golden/refund.tape.jsonl:3
      problem  Unexpected token '<', "<<<<<<< HEAD" is not valid JSON

    An editor, a merge or a failing disk changed this line.
    → to get the committed tape back: git restore --staged --worktree recordings/golden/refund.tape.jsonl
    → if it was never committed: record the run again
    (HARVEST_TAPE_LINE)"
  `)
})

test('an edited line is named with both digests', () => {
  expect(refusal(good.replace('A-17', 'A-18'))).toMatchInlineSnapshot(`
    "The tape was changed after it was recorded

      tape      recordings/golden/refund.tape.jsonl:1
      digest    5MgbL9EHkJsrZWk-bVjcgQ
      computed  N2IKbhaYrERdQ-ehINkbag

    The digest does not match: the line was edited, or one before it was removed, repeated or moved.
    → to get the committed tape back: git restore --staged --worktree recordings/golden/refund.tape.jsonl
    → if it was never committed: record the run again
    → to change what a test expects, edit its case file: a tape is evidence
    (HARVEST_TAPE_TAMPERED)"
  `)
})

test('a line without a digest is an edited one', () => {
  expect(refusal(`${JSON.stringify(header)}\n`)).toMatchInlineSnapshot(`
    "The tape was changed after it was recorded

      tape    recordings/golden/refund.tape.jsonl:1
      digest  missing

    The digest does not match: the line was edited, or one before it was removed, repeated or moved.
    → to get the committed tape back: git restore --staged --worktree recordings/golden/refund.tape.jsonl
    → if it was never committed: record the run again
    → to change what a test expects, edit its case file: a tape is evidence
    (HARVEST_TAPE_TAMPERED)"
  `)
})

test('line ends of Windows are told apart from damage', () => {
  expect(refusal(good.replaceAll('\n', '\r\n'))).toMatchInlineSnapshot(`
    "The tape has Windows line endings

      tape  recordings/golden/refund.tape.jsonl:1

    Git converted its line endings.
    → add to .gitattributes: *.tape.jsonl -text
    → then: git restore recordings/golden/refund.tape.jsonl
    (HARVEST_TAPE_LINE)"
  `)
})

test('a newer format is refused before anything else of the tape is judged', () => {
  expect(refusal(`${JSON.stringify({ harvest: 7, lines: 'of another kind' })}\n`)).toMatchInlineSnapshot(`
    "The tape has a newer format than this version of vitest-harvest reads

      tape    recordings/golden/refund.tape.jsonl:1
      format  7
      known   1

    → npm install --save-dev vitest-harvest@latest
    (HARVEST_TAPE_VERSION)"
  `)
})

test('a flag nobody knows is refused by name', () => {
  expect(refusal(sealed({ ...header, flags: [...header.flags, 'gate-9'] }))).toMatchInlineSnapshot(`
    "The tape needs a newer version of vitest-harvest

      tape     recordings/golden/refund.tape.jsonl:1
      unknown  gate-9
      known    gate-1, draws-by-package-1, headers-1, redactor-14, redactor-13, redactor-12, redactor-11, redactor-10, redactor-9, redactor-8, redactor-7, redactor-6, redactor-5, redactor-4, redactor-3, redactor-2, branch-1, begun-1, contents-1, contexts-1, fields-1, named-late-1, late-1, hosts-1, sockets-1, ends-1, cuts-2, cuts-1, tenants-1, region-1

    It was recorded by a newer version, whose replay rules differ.
    → npm install --save-dev vitest-harvest@latest
    (HARVEST_TAPE_VERSION)"
  `)
})

test('a missing tape says so, also where its directory is missing or a file', () => {
  const directory = scratch()
  writeFileSync(join(directory, 'file'), '')
  for (const read of [readTape, readTapeHeader]) {
    expect(messageOf(thrownBy(() => read(join(directory, 'none.tape.jsonl'))))).toMatchInlineSnapshot(`
      "The tape is missing

        tape  recordings/none.tape.jsonl

      A case and its tape are in one folder: one of them was moved, renamed or not committed.
      → to see which tapes there are: npx vitest-harvest ls
      (HARVEST_TAPE_MISSING)"
    `)
    expect(codeOf(() => read(join(directory, 'none', 'x')))).toBe('HARVEST_TAPE_MISSING')
    expect(codeOf(() => read(join(directory, 'file', 'x')))).toBe('HARVEST_TAPE_MISSING')
  }
})

test('a tape is never read through a symbolic link', async () => {
  const target = fileOf(good)
  const link = join(scratch(), 'link.tape.jsonl')
  symlinkSync(target, link)
  for (const read of [readTape, readTapeHeader])
    expect(messageOf(thrownBy(() => read(link)))).toMatchInlineSnapshot(`
    "The tape cannot be read

      tape  recordings/link.tape.jsonl

    It is a symbolic link, and a tape is never read through one.
    (HARVEST_TAPE_UNREADABLE)"
  `)
  await expect(streamTape(link).next()).rejects.toThrow(/symbolic link/)
})

test('a directory is no tape', () => {
  expect(messageOf(thrownBy(() => readTape(scratch())))).toMatchInlineSnapshot(`
    "The tape cannot be read

      tape  recordings

    It is a directory.
    (HARVEST_TAPE_UNREADABLE)"
  `)
})

test('a named pipe is no tape, and nobody waits for its writer', () => {
  const path = join(scratch(), 'pipe')
  execFileSync('mkfifo', [path])
  expect(codeOf(() => readTape(path))).toBe('HARVEST_TAPE_UNREADABLE')
})

test('a socket and a device are no tapes, and nobody waits for them', async () => {
  const path = join(scratch(), 'socket')
  const server = createServer().listen(path)
  await new Promise((resolve) => server.once('listening', resolve))
  expect(codeOf(() => readTape(path))).toBe('HARVEST_TAPE_UNREADABLE')
  await new Promise((resolve) => server.close(resolve))
  expect(codeOf(() => readTape('/dev/zero'))).toBe('HARVEST_TAPE_UNREADABLE')
})

test('a tape larger than the cap is refused unread', () => {
  const path = fileOf(good)
  truncateSync(path, 512 * 1024 * 1024 + 1)
  expect(messageOf(thrownBy(() => readTape(path)))).toMatchInlineSnapshot(`
    "The tape cannot be read

      tape  recordings/refund.tape.jsonl

    It has 536870913 bytes; the largest tape that is read whole has 536870912.
    (HARVEST_TAPE_UNREADABLE)"
  `)
})

test('permissions that forbid reading are named', () => {
  const path = fileOf(good)
  chmodSync(path, 0)
  // The superuser may read everything: be nobody for a moment.
  const isRoot = process.getuid?.() === 0
  if (isRoot) process.seteuid?.(65534)
  try {
    expect(messageOf(thrownBy(() => readTape(path)))).toContain('Its permissions do not let us read it.')
  } finally {
    if (isRoot) process.seteuid?.(0)
  }
})

test('an empty file says so', async () => {
  const path = fileOf('')
  expect(messageOf(thrownBy(() => readTape(path)))).toMatchInlineSnapshot(`
    "The tape is empty

      tape  recordings/refund.tape.jsonl

    The recorder writes the header first, so another program created or emptied this file.
    (HARVEST_TAPE_EMPTY)"
  `)
  expect(codeOf(() => readTapeHeader(path))).toBe('HARVEST_TAPE_EMPTY')
  await expect(streamTape(path).next()).rejects.toThrow(/The tape is empty/)
})

test('a key __proto__ is refused however it is spelled, and pollutes nothing', () => {
  const spellings = ['__proto__', '\\u005f_proto__', '__prot\\u006f__']
  for (const spelling of spellings) {
    const line = `{"kind":"mark","n":1,"at":0,"name":"x","data":{"deep":[{"${spelling}":{"polluted":true}}]}}`
    expect(codeOf(() => parseTape(sealed(header, line), source))).toBe('HARVEST_TAPE_LINE')
  }
  const first = `{"__proto__":{"polluted":true},${JSON.stringify(header).slice(1)}`
  expect(refusal(sealed(first))).toMatchInlineSnapshot(`
    "Invalid line in the tape

      tape     recordings/golden/refund.tape.jsonl:1
      problem  a key is called __proto__

    An editor, a merge or a failing disk changed this line.
    → to get the committed tape back: git restore --staged --worktree recordings/golden/refund.tape.jsonl
    → if it was never committed: record the run again
    (HARVEST_TAPE_LINE)"
  `)
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
})

test('the text __proto__ is no key', () => {
  const tape = parseTape(serializeTape(header, [exchange(1, '{"__proto__":1}')], closing), source)
  expect(tape.events[0]).toMatchObject({ request: { body: '{"__proto__":1}' } })
})

test('JSON nested deeper than 256 levels is refused, 256 levels are read', () => {
  const nested = (levels: number): string =>
    sealed(header, `{"kind":"mark","n":1,"at":0,"name":"x","data":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`)
  expect(parseTape(nested(256), source).events).toHaveLength(1)
  expect(refusal(nested(257))).toMatchInlineSnapshot(`
    "Invalid line in the tape

      tape     recordings/golden/refund.tape.jsonl:2
      problem  nested deeper than 256 levels

    An editor, a merge or a failing disk changed this line.
    → to get the committed tape back: git restore --staged --worktree recordings/golden/refund.tape.jsonl
    → if it was never committed: record the run again
    (HARVEST_TAPE_LINE)"
  `)
  expect(codeOf(() => parseTape(nested(200_000), source))).toBe('HARVEST_TAPE_LINE')
})

test('a key that stands twice in one map is refused, however it is spelled', () => {
  const line = (data: string): string => `{"kind":"mark","n":4,"at":1,"name":"a","data":${data}}`
  const twice = ['{"a":1,"a":1}', '{"a" :1,"\\u0061"\t:2}', '[{"b":"\\\\","x":[],"b":{"b":1}}]', '{"":1,"":2}']
  for (const data of twice) expect(refusal(sealed(header, line(data)))).toMatch(/:2\n.*the key "[ab]?" stands twice/s)
  // Beside a key that ends in backslashes, or in a quote behind them.
  for (const key of ['\\\\', '\\\\\\\\', '\\"', '\\\\\\"'])
    expect(refusal(sealed(header, line(`{"${key}":1,"b":2,"b":3}`)))).toMatch(/:2\n.*the key "b" stands twice/s)
  const once = [
    '{"\\\\":1,"\\\\\\"":":","\\":":{"\\\\":":"}}',
    '{"a":{"a":1},"b":["a","a"]}',
    '["\\":",":",{"a\\"":":"}]',
    '{"2":1,"1":2,"é":"\\u00e9"}',
    '1e3',
  ]
  for (const data of once) expect(parseTape(sealed(header, line(data)), source).events).toHaveLength(1)
})

test('a line that is not UTF-8 is refused', () => {
  const text = sealed(header, { kind: 'mark', n: 4, at: 1, name: 'é' })
  const { digest } = parseTape(sealed(header), source)
  const line = Buffer.from(JSON.stringify({ kind: 'mark', n: 4, at: 1, name: 'xx' }))
  line.write('\xc3\x28', line.length - 4, 'latin1')
  const made = sealBytes(digest, line)
  const head = Buffer.from(sealed(header))
  expect(messageOf(thrownBy(() => readBytes(Buffer.concat([head, made]), source)))).toMatch(/:2\n.*it is not UTF-8/s)
  expect(parseTape(text, source).events).toHaveLength(1)
})

test('two events with one number are refused', () => {
  expect(refusal(sealed(header, mark(4, 'a'), mark(4, 'b')))).toMatchInlineSnapshot(`
    "Invalid line in the tape

      tape     recordings/golden/refund.tape.jsonl:3
      problem  the tape has another event 4

    An editor, a merge or a failing disk changed this line.
    → to get the committed tape back: git restore --staged --worktree recordings/golden/refund.tape.jsonl
    → if it was never committed: record the run again
    (HARVEST_TAPE_LINE)"
  `)
})

test('a close that counts other events than there are is refused', () => {
  const close = { kind: 'close', n: 9, at: 1, outcome: { status: 'returned' }, events: 3 }
  expect(refusal(sealed(header, mark(4, 'a'), close))).toMatchInlineSnapshot(`
    "Invalid line in the tape

      tape     recordings/golden/refund.tape.jsonl:3
      problem  it counts 3 events, the tape holds 1

    An editor, a merge or a failing disk changed this line.
    → to get the committed tape back: git restore --staged --worktree recordings/golden/refund.tape.jsonl
    → if it was never committed: record the run again
    (HARVEST_TAPE_LINE)"
  `)
})

test('a line after the close is refused', () => {
  const close = { kind: 'close', n: 9, at: 1, outcome: { status: 'returned' }, events: 0 }
  expect(refusal(sealed(header, close, mark(4, 'a')))).toContain('it stands after the closing line')
})

test('a reference to a body that is not there is refused', () => {
  const lost = { ...exchange(4, ''), request: { headers: [], body: { like: 1, head: 5, text: '', tail: 0 } } }
  expect(refusal(sealed(header, lost))).toMatchInlineSnapshot(`
    "Invalid line in the tape

      tape     recordings/golden/refund.tape.jsonl:2
      problem  its request body refers to event 1, which holds no such text

    An editor, a merge or a failing disk changed this line.
    → to get the committed tape back: git restore --staged --worktree recordings/golden/refund.tape.jsonl
    → if it was never committed: record the run again
    (HARVEST_TAPE_LINE)"
  `)
  const short = { ...exchange(4, ''), request: { headers: [], body: { like: 1, head: 3, text: '', tail: 3 } } }
  expect(refusal(sealed(header, exchange(1, 'abcde'), short))).toContain('which holds no such text')
})

test('every field of every kind of line is checked', () => {
  const message = { kind: 'message', n: 1, at: 0, from: 'a', to: 'b', body: 1 }
  const last = { kind: 'close', n: 1, at: 0, events: 0, outcome: { status: 'returned' } }
  const usage = { modelCalls: 1, inputTokens: 1, outputTokens: 1 }
  const wrong: readonly (readonly [string, object])[] = [
    ['id is not text', { ...header, id: 7 }],
    ['startedAt is not a date', { ...header, startedAt: 'yesterday' }],
    ['startedAt is not a date', { ...header, startedAt: '2026-02-31T99:00:00Z' }],
    ['pins is not an object', { ...header, pins: [] }],
    ['node is not text', { ...header, pins: {} }],
    ['pins.commit is not text', { ...header, pins: { node: '24', commit: 1 } }],
    ['pins.dirty is not true or false', { ...header, pins: { node: '24', dirty: 'no' } }],
    ['pins.packages is not a map of texts', { ...header, pins: { node: '24', packages: { a: 1 } } }],
    ['redact is not an object', { ...header, redact: [] }],
    ['redact.keys[0] has the wrong shape', { ...header, redact: { keys: [1] } }],
    ['redact.names is not a map of lists of texts', { ...header, redact: { names: { never: 'x' } } }],
    ['redact.families[0] has the wrong shape', { ...header, redact: { families: [{ head: 'x' }] } }],
    ['redact.rules[0] has the wrong shape', { ...header, redact: { rules: [{ kind: 'x', pattern: 'x' }] } }],
    ['outcome.stdout is not text', { ...last, outcome: { status: 'exited', code: 0, stdout: [] } }],
    ['at is not a number of milliseconds', { ...mark(1, 'a'), at: 1e300 }],
    ['flags is not a list', { ...header, flags: 'gate-1' }],
    ['command.argv is not a list', { ...header, command: { argv: 'node', cwd: '/' } }],
    ['harvest is not a format version', { ...header, harvest: '1' }],
    ['n is not a whole number', { ...mark(1, 'a'), n: -1 }],
    ['n is not a whole number', { ...mark(1, 'a'), n: 2 ** 60 }],
    ['at is not a number of milliseconds', { ...mark(1, 'a'), at: '0' }],
    ['in is not a whole number', { ...mark(1, 'a'), in: 0.5 }],
    ['site is not text', { ...mark(1, 'a'), site: 1 }],
    ['name is not text', { ...mark(1, 'a'), name: 1 }],
    ['nothing is known of kind "hop"', { ...mark(1, 'a'), kind: 'hop' }],
    ['nothing is known of kind undefined', { n: 1, at: 0 }],
    ['nothing is known of kind "constructor"', { kind: 'constructor', n: 1, at: 0 }],
    ['args is missing', { kind: 'tool', n: 1, at: 0, name: 'x' }],
    ['settled is not a moment', { ...call(1, 'x'), settled: 4 }],
    ['yields[0] has the wrong shape', { ...call(1, 'x'), yields: [[1, 2]] }],
    [
      'draws[1] has the wrong shape',
      {
        kind: 'draws',
        n: 1,
        at: 0,
        draws: [
          ['now', 'app', 1],
          ['coin', 'app', 1],
        ],
      },
    ],
    ['command[0] has the wrong shape', { kind: 'spawn', n: 1, at: 0, command: [1] }],
    ['text is not text', { kind: 'push', n: 1, at: 0, url: 'stdio:x' }],
    ['to is not text', { ...message, to: 1 }],
    ['body is missing', { ...message, body: undefined }],
    ['via is not undici, http, http2, stdio or websocket', { ...exchange(1, ''), via: 'pigeon' }],
    ['request is not an object', { ...exchange(1, ''), request: 'GET' }],
    ['request.headers[0] has the wrong shape', { ...exchange(1, ''), request: { headers: [['a']] } }],
    ['request.body is not a body', { ...exchange(1, ''), request: { headers: [], body: { like: '1' } } }],
    ['response is not an object', { ...exchange(1, ''), response: [] }],
    ['response.moment is not a moment', { ...exchange(1, ''), response: { ...exchange(1, '').response, moment: [1] } }],
    [
      'response.status is not a whole number',
      { ...exchange(1, ''), response: { ...exchange(1, '').response, status: '200' } },
    ],
    [
      'response.statusText is not text',
      { ...exchange(1, ''), response: { ...exchange(1, '').response, statusText: 1 } },
    ],
    ['response.end is not a moment', { ...exchange(1, ''), response: { ...exchange(1, '').response, end: 1 } }],
    [
      'response.chunks[0] has the wrong shape',
      { ...exchange(1, ''), response: { ...exchange(1, '').response, chunks: [[1, 2, 3]] } },
    ],
    ['error is not an object', { ...exchange(1, ''), error: 'reset' }],
    ['error has no name and message', { ...exchange(1, ''), error: { name: 'Error' } }],
    ['error.code is not text', { ...exchange(1, ''), error: { name: 'E', message: 'm', code: 4, moment: [1, 1] } }],
    ['error.moment is not a moment', { ...exchange(1, ''), error: { name: 'E', message: 'm' } }],
    ['aborted is not a moment', { ...exchange(1, ''), aborted: true }],
    ['outcome is not an object', { kind: 'close', n: 1, at: 0, events: 0 }],
    [
      'outcome.status is not returned, threw or exited',
      { kind: 'close', n: 1, at: 0, events: 0, outcome: { status: 'ok' } },
    ],
    ['outcome.error is missing', { kind: 'close', n: 1, at: 0, events: 0, outcome: { status: 'threw' } }],
    [
      'outcome.code is not a whole number or null',
      { kind: 'close', n: 1, at: 0, events: 0, outcome: { status: 'exited' } },
    ],
    ['events is not a whole number', { kind: 'close', n: 1, at: 0, outcome: { status: 'returned' } }],
    [
      'incomplete is not text',
      { kind: 'close', n: 1, at: 0, events: 0, outcome: { status: 'returned' }, incomplete: 1 },
    ],
    [
      'unrecorded is not a list',
      { kind: 'close', n: 1, at: 0, events: 0, outcome: { status: 'returned' }, unrecorded: 1 },
    ],
    ['kept is not a list', { ...last, kept: 'sample' }],
    ['kept[1] has the wrong shape', { ...last, kept: [{ because: 'sample' }, { because: 'mood' }] }],
    ['kept[0] has the wrong shape', { ...last, kept: [{ because: 'flag', detail: 7 }] }],
    ['retention is not an object', { ...last, retention: '7d' }],
    ['retention.class is not clean, flagged or incident', { ...last, retention: { class: 'dirty' } }],
    ['retention.until is not a date', { ...last, retention: { class: 'clean', until: '7d' } }],
    ['retention.until is not a date', { ...last, retention: { class: 'clean', until: '2026-13-01T00:00:00.000Z' } }],
    ['retention.hold is not text', { ...last, retention: { class: 'clean', hold: true } }],
    ['usage is not an object', { ...last, usage: [] }],
    ['usage.modelCalls is not a whole number', { ...last, usage: { ...usage, modelCalls: 1.5 } }],
    ['usage.inputTokens is not a whole number', { ...last, usage: { ...usage, inputTokens: -1 } }],
    ['usage.outputTokens is not a whole number', { ...last, usage: { modelCalls: 1, inputTokens: 1 } }],
    ['usage.costUsd is not a number of dollars', { ...last, usage: { ...usage, costUsd: '1' } }],
    ['usage.costUsd is not a number of dollars', { ...last, usage: { ...usage, costUsd: -1 } }],
  ]
  for (const [problem, line] of wrong) {
    const lines: object[] = 'pins' in line ? [line] : [header, line]
    expect(refusal(sealed(...lines)), problem).toContain(problem)
  }
  expect(refusal(sealed(header, '[1]'.replace('[1]', '{"kind":"mark","n":1,"at":1e999,"name":"x"}')))).toContain(
    'milliseconds',
  )
})

test('fields nobody knows yet are kept', () => {
  const later = { ...mark(1, 'a'), colour: 'red' } as TapeEvent
  const header2 = { ...header, region: 'eu' } as TapeHeader
  const tape = parseTape(serializeTape(header2, [later], closing), source)
  expect([tape.header, tape.events[0]]).toStrictEqual([header2, later])
})

function codeOf(run: () => unknown): string {
  const error = thrownBy(run)
  return HarvestError.is(error) ? error.code : String(error)
}
