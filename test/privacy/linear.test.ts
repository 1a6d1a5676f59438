import { expect, test } from 'vitest'
import type { Json } from '../../src/tape/index.ts'
import { plainHead } from '../../src/cases/index.ts'
import { neutral, neutralLine } from '../../src/errors/index.ts'
import { readRecordings } from '../../src/importers/read.ts'
import { addressed } from '../../src/importers/runs/group-chat.ts'
import { blockedIn } from '../../src/live/off-tape.ts'
import { columnTriggers } from '../../src/privacy/columns.ts'
import { commandTriggers } from '../../src/privacy/commands.ts'
import { builtInFamilies } from '../../src/privacy/families.ts'
import { createRedactor, scan } from '../../src/privacy/index.ts'
import { namedTriggers } from '../../src/privacy/named.ts'
import { NameTable } from '../../src/privacy/names.ts'
import { nearLately, nearSince, nearTriggers } from '../../src/privacy/near.ts'
import { ibanTriggers } from '../../src/privacy/personal.ts'
import { programs } from '../../src/privacy/programs.ts'
import { saidTriggers } from '../../src/privacy/said.ts'
import { sqlLiteralTriggers } from '../../src/privacy/sql-literals.ts'
import { sqlTriggers } from '../../src/privacy/sql.ts'
import { shapeTriggersOf, tokensOf } from '../../src/privacy/tokens.ts'
import { Spellings } from '../../src/privacy/views.ts'
import { Walk } from '../../src/privacy/walk.ts'
import { readAddress } from '../../src/providers/index.ts'
import { foldText } from '../../src/report/fold.ts'
import { listens } from '../../src/seam/clients/pg.ts'
import { isTorn } from '../../src/tape/torn.ts'
import { eventStream } from './arbitrary.ts'

/*
 * Text made to be slow. A search whose cost grows with the square of the text takes 100 times as long for ten times
 * the text; one that grows with the text takes ten times as long. CPU time of this process is compared with itself.
 */
const hostile: Readonly<Record<string, (length: number) => string>> = {
  'one letter': (length) => 'a'.repeat(length),
  digits: (length) => '4'.repeat(length),
  'digits in groups': (length) => '4111 '.repeat(length / 5),
  'at signs': (length) => '@'.repeat(length),
  'half addresses': (length) => 'a@'.repeat(length / 2),
  addresses: (length) => 'a@b.cc '.repeat(length / 7),
  'an address with a long name': (length) => `${'a'.repeat(length)}@example.com`,
  'dots behind an at sign': (length) => `a@${'a.'.repeat(length / 2)}`,
  'long labels behind an at sign': (length) => `a@${'a'.repeat(60)}.`.repeat(length / 63),
  schemes: (length) => '://'.repeat(length / 3),
  users: (length) => '://a:'.repeat(length / 5),
  'key heads': (length) => 'sk-'.repeat(length / 3),
  'key heads apart': (length) => ' sk-ant-'.repeat(length / 8),
  'one long key': (length) => `sk-${'A1'.repeat(length / 2)}`,
  'tokens that never end': (length) => 'eyJaaaaa.'.repeat(length / 9),
  'half a token': (length) => `eyJ${'a'.repeat(length)}`,
  bearers: (length) => 'Bearer '.repeat(length / 7),
  'bearers of words': (length) => `Bearer ${'a'.repeat(500)} `.repeat(length / 508),
  'private keys that never end': (length) => '-----BEGIN PRIVATE KEY-----'.repeat(length / 27),
  dashes: (length) => '-'.repeat(length),
  names: (length) => 'password'.repeat(length / 8),
  'names with signs': (length) => 'password='.repeat(length / 9),
  'names that begin a text': (length) => '"password":"'.repeat(length / 12),
  'a text that never ends': (length) => `"password":"${'\\"'.repeat(length / 2)}`,
  'names in texts that never end': (length) => '\\"password\\":\\"'.repeat(length / 15),
  backslashes: (length) => '\\'.repeat(length),
  'backslashes before quotes': (length) => `"secret":"${'\\\\\\"'.repeat(length / 4)}`,
  'equals signs': (length) => '='.repeat(length),
  parameters: (length) => '&key='.repeat(length / 5),
  'bank accounts': (length) => 'DE89 '.repeat(length / 5),
  countries: (length) => 'DE12'.repeat(length / 4),
  placeholders: (length) => 'redacted-1@email.invalid '.repeat(length / 25),
  'half placeholders': (length) => 'redacted-'.repeat(length / 9),
  spaces: (length) => ' '.repeat(length),
  percents: (length) => '%40'.repeat(length / 3),
  events: (length) => eventStream('a@'.repeat(length / 200), [1, 1, ...Array.from({ length: length / 100 }, () => 2)]),
  'events that repeat a field': (length) => `data: x\n\ndata: {${'"content":"a@",'.repeat(length / 15)}}\n\n`,
  'objects beside one another': (length) => '{"t":"a@"}'.repeat(length / 10),
  'objects beside one another, by id': (length) => '{"id":"a","t":"b"} {"id":"b","t":"c"} '.repeat(length / 38),
  'braces beside one another': (length) => `{"a":"${'}{'.repeat(length / 2)}`,
  'braces and blanks': (length) => `{${'}  '.repeat(length / 3)}{`,
  'quotes in objects that do not end': (length) => `{${'\\"}{'.repeat(length / 4)}`,
  'encoded values': (length) => '{"$type":"bigint","value":"4111111111111111"}'.repeat(length / 45),
  'an open field': (length) => `data: x\n\ndata: ${'"content":"'.repeat(length / 11)}\n\n`,
  'heads of a family': (length) => 'acme_'.repeat(length / 5),
  'signs at the end of a value': (length) => `password:${'.'.repeat(length / 20)}x `.repeat(20),
  'spaces at the end of an element': (length) => `<password>${' '.repeat(4_000)}x</password>`.repeat(length / 4_021),
  'backslashes at the end of a key': (length) => `-----BEGIN PRIVATE KEY-----${'\\'.repeat(length / 50)}a\n`.repeat(50),
  'what a secret nearly is': (length) => `"password":"a1${'a'.repeat(length / 5)}" ${'a'.repeat((length * 4) / 5)}`,
  'names with accents of their own': (length) => 'contrasen\u0303a:'.repeat(length / 12),
  'names in Chinese': (length) => '密码：'.repeat(length / 3),
  'names with a number': (length) => 'Token2: '.repeat(length / 8),
  'code before no text': (length) => 'password = env.P ?? '.repeat(length / 20),
  'keys before empty texts in texts of JSON': (length) =>
    `"key${String.raw`\\\\\\\":\\\\\\\"\\\\\\\"\\\\\\\":`},`.repeat(length / 40),
  'secrets by name': (length) => Array.from({ length: length / 40 }, (_, at) => `"secret":"a1b2c3d4-${at}"`).join(),
}

const [short, long] = [100_000, 1_000_000]

test.each(Object.entries(hostile))('time grows with the text, not with its square: %s', (_, make) => {
  const [less, more] = [make(short), make(long)]
  const run = (text: string): void => {
    createRedactor({ on: ['phone'], families: [{ head: 'acme_', of: 'word', min: 32 }] }).text(text)
  }
  run(less.slice(0, 1000))
  // Ten short runs against one long one: about equal when linear, ten times apart when quadratic.
  const base = Math.max(
    cpuMs(() => run(less)),
    0.5,
  )
  expect(cpuMs(() => run(more)) / base).toBeLessThan(40)
})

test.each(Object.entries(hostile))(
  'how much of a text is settled is found in time that grows with the text: %s',
  (_, make) => {
    // Less than above: what is quadratic here is so from its first characters on.
    const [less, more] = [make(short >> 2), make(long >> 2)]
    for (const before of ['', 'data: x\ndata: "']) {
      const run = (text: string): void => void createRedactor().settled(before + text)
      run(less.slice(0, 1000))
      const base = Math.max(
        cpuMs(() => run(less)),
        0.5,
      )
      expect(cpuMs(() => run(more)) / base).toBeLessThan(40)
    }
  },
)

test.each(['zeyJ', ' -u a', 'password\n', '"password":"'])(
  'a text that was searched costs no more in another string, though it is compared with what was seen: %s',
  (part) => {
    const text = part.repeat((1 << 19) / part.length)
    const bytes = Buffer.from(text)
    const first = Math.max(
      20,
      cpuMs(() => createRedactor().text(text)),
    )
    expect(cpuMs(() => createRedactor().text(bytes.toString())) / first).toBeLessThan(10)
  },
)

test('names inside of one value of a query cost little more than names apart', () => {
  const [inside, apart] = ['?key=', ' key='].map((text) => text.repeat(short / text.length)) as [string, string]
  const run = (text: string): void => void createRedactor().text(text)
  run(apart.slice(0, 1000))
  const base = Math.max(
    cpuMs(() => Array.from({ length: 4 }, () => run(apart))),
    1,
  )
  // Each of them with all that follows: five times as much and more, where it is a seventh.
  expect(cpuMs(() => run(inside)) / base).toBeLessThan(1)
})

test('scanning, chunks and values grow with the text as well', () => {
  const text = (length: number): string => 'a@b.cc sk- eyJ "password":"x" '.repeat(length / 30)
  const runs: readonly ((text: string) => unknown)[] = [
    (given) => scan(given),
    (given) => createRedactor().chunks(inPieces(Buffer.from(given), 100)),
    (given) => createRedactor().json(given.match(/.{1,1000}/gs)! as unknown as Json),
    (given) => createRedactor().url(`https://x.example/?${given.replaceAll(' ', '&')}`),
  ]
  for (const run of runs) {
    run(text(3000))
    const base = Math.max(
      cpuMs(() => run(text(short))),
      0.5,
    )
    expect(cpuMs(() => run(text(long))) / base).toBeLessThan(40)
  }
})

test('a long run of one character asks what is looked for only at its beginning', () => {
  const printable = Array.from({ length: 0x7f - 0x20 }, (_, at) => String.fromCharCode(0x20 + at))
  const asked = printable.flatMap((letter) => {
    let count = 0
    const triggers = [...builtInFamilies(6).map(tokensOf), ...shapeTriggersOf(() => true, 6)]
    const counted = triggers.map(({ at, ...trigger }) => ({
      ...trigger,
      at: (...given: Parameters<typeof at>) => ((count += 1), at(...given)),
    }))
    new Walk(counted).find(letter.repeat(5_000), [])
    return count > 100 ? [`${letter}: ${count} times`] : []
  })
  expect(asked).toEqual([])
})

test.each(['', 'x ', 'xxxx ', '"', '\\n', '\\u0041', '%41', '%AA', 'AAAAAA.'])(
  'a token whose head is a run of one letter is found behind %j',
  (before) => {
    const token = `${'A'.repeat(21)}kX9`.padEnd(90, 'b7Q')
    expect(createRedactor().text(before + token)).not.toContain(token.slice(-40))
  },
)

/** What is looked for, and the words of commands, by the table they stand in. */
function wordsOfTables(): Readonly<Record<string, readonly string[]>> {
  const names = new NameTable({}, 6)
  const isOn = (): boolean => true
  const triggers = {
    spellings: new Spellings(false).triggers,
    families: builtInFamilies(6).map(tokensOf),
    shapes: shapeTriggersOf(isOn, 6),
    names: namedTriggers(names),
    statements: [...sqlTriggers(names), ...sqlLiteralTriggers(names)],
    commands: commandTriggers(names),
    surroundings: [nearTriggers(isOn), nearTriggers(isOn, nearSince), nearTriggers(isOn, nearLately)].flat(),
    sentences: saidTriggers(names),
    columns: columnTriggers(new NameTable({}, 8)),
    'bank accounts': ibanTriggers(new Set()),
  }
  const said = programs.flatMap((row) => Object.values(row).filter((words) => typeof words === 'string'))
  return {
    ...Object.fromEntries(Object.entries(triggers).map(([table, all]) => [table, all.map(({ text }) => text)])),
    'words of commands': said.flatMap((words) => words.split(/\s+/)),
  }
}

test.each(Object.entries(wordsOfTables()))(
  'time grows with the text, not with its square, for each that is looked for: %s',
  (_, words) => {
    expect(words.length).toBeGreaterThan(8)
    const repeated = (unit: string, length: number): string => unit.repeat(Math.ceil(length / unit.length))
    const cost = (text: string): number => cpuMs(() => createRedactor().text(text))
    const units = [...new Set(words)].flatMap((word) => ['"', ' ', ''].map((behind) => word + behind)).filter(Boolean)
    cost(repeated(units[0]!, 1 << 16))
    const costs = units.map((unit) => cost(repeated(unit, 1 << 13)))
    const usual = costs.toSorted((a, b) => a - b)[costs.length >> 1]!
    const least = (unit: string, size: number): number =>
      Math.min(...Array.from({ length: 3 }, () => cost(repeated(unit, 1 << size))))
    // What took less than usual is too short to compare with.
    const base = (unit: string, size: number): number => Math.max(least(unit, size), 4 * usual)
    // Those that stand out are compared with themselves, by one look first: eight times the text is eight when linear. What
    // would fail below, quadratic in its larger part from `1 << 15` on, is 22 here.
    const slow = units
      .filter((_unit, at) => costs[at]! > 4 * usual)
      .filter((unit) => cost(repeated(unit, 1 << 17)) / base(unit, 14) > 14)
    const growth = slow.map((unit) => {
      const times = [15, 16].map((size) => least(unit, size + 2) / base(unit, size))
      // A cap that is met in one of these sizes is no growth in both.
      return { unit, times: Math.min(...times) }
    })
    // Four times the text: four when linear, up to ten where the larger one fills the young part of the heap, sixteen when quadratic.
    expect(growth.filter(({ times }) => times > 12)).toEqual([])
  },
)

test.each([
  ['addresses', 'a@b.cc '],
  ['addresses in lines', 'a@b.cc\\n'],
  ['secrets by name', 'password=a1b2c3d4 '],
  ['names in Chinese', '密码：a1b2c3，'],
  ['tokens', 'Bearer a1b2c3d4e5f6 '],
])('time grows with a piece of a stream, not with its square: %s', (_, unit) => {
  const lines = [(said: string) => `data: {"content":"${said}"}\n\n`, (said: string) => `{"msg":"${said}"}\n`]
  for (const line of lines) {
    const least = (length: number): number => {
      const text = line(unit.repeat(length / unit.length)) + line('x')
      return Math.min(...Array.from({ length: 3 }, () => cpuMs(() => createRedactor().text(text))))
    }
    least(1 << 12)
    expect(least(1 << 15) / Math.max(0.5, least(1 << 13))).toBeLessThan(9)
  }
})

/** What commands read of a file that another wrote, by what it is read as. */
const foreign: Readonly<Record<string, readonly [(length: number) => string, (text: string) => unknown]>> = {
  'blank lines before a case': [(length) => `${'\n'.repeat(length)}!`, plainHead],
  'comments before a case': [(length) => `${' \n#\n'.repeat(length / 4)}!`, plainHead],
  'blank lines on a terminal': [(length) => `${'\n'.repeat(length)}ä`, neutral],
  'blanks on a terminal': [(length) => `${' '.repeat(length)}ä`, (text) => neutralLine(text, text.length)],
  'blank lines in a table': [(length) => `${'\n'.repeat(length)}ä`, (text) => foldText(text, { width: 80, lines: 3 })],
  'comments before a statement': [(length) => `${'/**/'.repeat(length / 4)}select`, listens],
  'receivers in the name of a speaker': [(length) => 'x (->'.repeat(length / 5), addressed],
  'zero bytes in a line of a tape': [(length) => `{${'\0'.repeat(length)}x`, isTorn],
  'slashes of a URL': [(length) => `https://x.example${'/'.repeat(length)}x`, readAddress],
  'models in a URL': [(length) => `https://x.example${'/models/a:'.repeat(length / 10)}1`, readAddress],
  'why a run was refused': [
    (length) => `Blocked real I/O that harvest() does not allow${': a b'.repeat(length / 5)}`,
    blockedIn,
  ],
  'blank lines in a command of an import': [
    (length) => {
      const content = `\`\`\`bash${'\n'.repeat(length)}x`
      return JSON.stringify({ info: { mini_version: '1' }, messages: [{ role: 'assistant', content }] })
    },
    (text) => readRecordings({ file: 'a.json', bytes: Buffer.from(text) }),
  ],
}

test.each(Object.entries(foreign))('time grows with what a file holds, not with its square: %s', (_, [make, read]) => {
  const [less, more] = [make(short >> 3), make(long >> 3)]
  read(make(20))
  const base = Math.max(
    cpuMs(() => read(less)),
    1,
  )
  expect(cpuMs(() => read(more)) / base).toBeLessThan(40)
})

function cpuMs(run: () => unknown): number {
  const start = process.cpuUsage()
  run()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1000
}

function inPieces(bytes: Buffer, length: number): Buffer[] {
  return Array.from({ length: Math.ceil(bytes.length / length) }, (_, at) =>
    bytes.subarray(at * length, (at + 1) * length),
  )
}

test('what is replaced lays bare nothing else of a text that repeats itself: it is searched twice, not sixteen times', () => {
  for (const head of ['password := " ', "password => ' ", "--password '  "]) {
    const pieces = createRedactor().text(head.repeat(1_000)).split('redacted-secret-1')
    expect(pieces.length).toBe(501)
  }
  for (const head of ['db:6432:shop:ada:', ':5432:shop:ada:'])
    expect(createRedactor().text(`${head}${'a1'.repeat(5_000)} is long`)).toBe(`${head}redacted-secret-1 is long`)
})
