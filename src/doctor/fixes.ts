import type { Found } from './index.ts'
import { isAddress } from './address.ts'
import { writtenAt } from './written.ts'

/** What kind of thing makes a run irreproducible. */
export type FindingKind = Found['reading']['kind'] | 'kept state' | 'time zone or locale' | 'unseen'

/**
 * What to write instead, best first; every line can stand where the source stands now.
 *
 * `value()` is proposed around an expression that is known to be plain data, and around nothing else: what stands on a line
 * that asks through a package may be a client or a connection, and a formatter has methods, which no tape can hold.
 *
 * @param reading - `via`: the npm package that asked; `phase`: `load` where it is asked before there is a run, whose tape could
 * hold the answer; `isOutside`: it lies outside of the repository
 */
export function fixOf(
  kind: FindingKind,
  name: string,
  reading: Partial<Pick<Found['reading'], 'via' | 'phase' | 'isAddress' | 'site'>> & {
    readonly isOutside?: boolean
  } = {},
): readonly string[] {
  const { via, phase = 'run', isAddress: wasAddress, site, isOutside = false } = reading
  const known = via === undefined ? expressionOf(kind, name, site) : undefined
  const door =
    known === undefined
      ? `wrap the function of yours that needs it and returns plain data: tool('${labelOf(name)}', …)`
      : `${phase === 'load' ? 'move it into the function of the agent, and record its answer there' : 'record its answer'}: value('${labelFor(kind, name)}', () => ${known})`
  switch (kind) {
    case 'clock':
      return [...(clocks[name] ?? ['use a recorded clock: Date.now(), performance.now()']), door]
    case 'random':
      return ['use recorded randomness: crypto.randomUUID(), crypto.randomBytes(16)', door]
    case 'process':
    case 'machine':
    case 'memory':
    case 'database':
      return [door, 'or pass it in with the input of the agent']
    case 'environment':
      // A recorded address would send live runs there, and a fixed one those of another machine.
      if (isAddress(kind, name, wasAddress))
        return [
          'keep it out of what the agent says and decides: where a request goes is no part of a run',
          'or pass it in with the input',
        ]
      return [
        ...(known === undefined ? [] : [door]),
        `${known === undefined ? 'set' : 'or set'} it for the tests, in vitest.config.ts: test: { env: { ${variableIn(name) ?? '…'}: '…' } }`,
        'or pass it in with the input',
      ]
    case 'time zone':
      // It changes the date, which a recorded answer does not.
      if (name.startsWith('Date#set')) return ['set the parts of UTC: setUTCHours(…), setUTCDate(…)']
      return ["name the zone: { timeZone: 'UTC' } in the options, or getUTCHours(), toISOString()", door]
    case 'locale':
      return ["name the language: toLocaleString('en-US'), new Intl.Collator('en')", door]
    case 'path':
      return [
        'make the path relative to the project: path.relative(process.cwd(), file)',
        'of an error, use its message, not its stack',
      ]
    case 'file':
      return [
        door,
        isOutside
          ? 'or read a copy of it in the project, and commit that: what is under version control is code'
          : 'or commit the file: what is under version control is code',
      ]
    case 'file times':
      return [door, 'or keep the date in the file itself']
    case 'directory':
      return [
        door,
        isOutside
          ? 'or read a copy of it in the project, and commit that: what is under version control is code'
          : 'or commit the folder: what is under version control is code',
      ]
    case 'directory order':
      return ['sort it: (await readdir(folder)).sort()']
    case 'temporary name':
      return ['choose the name yourself: path.join(os.tmpdir(), input.id)', door]
    case 'order of completion':
      return [
        'put results together in the order of the calls: const all = await Promise.all(…), then use all',
        "or wrap the work, so that it is answered in recorded order: tool('read', …)",
      ]
    case 'garbage collection':
      return ['keep a strong reference to what the run depends on: a Map instead of a WeakRef']
    case 'another realm':
      return ["wrap what runs the code, so that its answer is recorded: tool('run_script', …)", door]
    case 'kept state':
      return [
        'keep it in a variable of the run, not of the process',
        "or give every case a worker: harvest({ isolate: 'worker' })",
      ]
    case 'time zone or locale':
      return ['name zone and language wherever a date becomes text, and build dates in UTC: new Date(Date.UTC(…))']
    case 'unseen':
      return [
        'look for what outlives a run: a pool of ids, a counter or a cache that a package keeps',
        "wrap the function of yours that gives another answer each time and returns plain data: tool('…', …)",
      ]
    default:
      return kind satisfies never
  }
}

const clocks: Readonly<Record<string, readonly string[]>> = {
  'process.hrtime()': ['use a recorded clock: performance.now()'],
  'process.hrtime.bigint()': ['use a recorded clock: BigInt(Math.round(performance.now() * 1e6))'],
  'Intl.DateTimeFormat#format()': ['pass the time: format(new Date())'],
  'Intl.DateTimeFormat#formatToParts()': ['pass the time: formatToParts(new Date())'],
  "node:sqlite, SQLite's clock": ["pass the time to the statement: .get(new Date().toISOString()), with ? for 'now'"],
}

/** A name for `value()`: that of the file, of the variable, or the last word of what the code says. */
function labelOf(name: string): string {
  const file = /^fs\.\w+ (?:.*[\\/])?([\w-]+)/.exec(name)?.[1]
  const variable = variableIn(name)?.toLowerCase()
  return file ?? variable ?? name.match(/[A-Za-z]\w*(?=\W*$)/)?.[0] ?? 'it'
}

/** What is recorded of a formatter is what it takes of the machine. */
function labelFor(kind: FindingKind, name: string): string {
  return formatter.test(name) ? (kind === 'locale' ? 'locale' : 'zone') : labelOf(name)
}

function variableIn(name: string): string | undefined {
  return /^process\.env\.(\w+)$/.exec(name)?.[1]
}

/** Kinds whose answers are numbers, texts and the like, no matter what asks for them. */
const plain: ReadonlySet<FindingKind> = new Set([
  'clock',
  'random',
  'time zone',
  'locale',
  'process',
  'machine',
  'memory',
])

/** Answers that are keys and handles of this process, or go to a callback: no tape holds them. */
const live =
  /^crypto\.(?:subtle\.)?generateKey|^crypto\.create(?:ECDH|DiffieHellman)|^crypto\.subtle\.encapsulateKey|^crypto\.generatePrime\(|^performance\.toJSON|^URL\.createObjectURL|^fs\./

/** `Intl.Collator()`: what it makes has methods. */
const formatter = /^Intl\.\w+\(\)$/

/** What the line asks, where that is known to be plain data. */
function expressionOf(kind: FindingKind, name: string, site: string | undefined): string | undefined {
  if (live.test(name)) return undefined
  if (formatter.test(name)) return `new ${name}.resolvedOptions().${kind === 'locale' ? 'locale' : 'timeZone'}`
  // They take arguments, which the probe does not keep.
  if (name.startsWith('crypto.')) return writtenAt(site, name) ?? name.replace(/\(\)$/, '(…)')
  if (/^[\w.]+(?:\(\))?$/.test(name)) return writtenAt(site, name) ?? name
  return plain.has(kind) ? '…' : undefined
}
