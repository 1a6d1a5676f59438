/** The rooms of `src/`: a room is a folder with one subject. The test of the walls and the table in the docs are made from it. */

export interface Room {
  /** What it is about, for the table of docs/architecture.md. */
  readonly subject: string
  /** The rooms it may import. */
  readonly mayImport: readonly string[]
  /** The npm packages it may use; all others use Node alone. */
  readonly packages?: readonly string[]
}

export const rooms: Readonly<Record<string, Room>> = {
  errors: {
    subject: 'the one error class, its layout, making recorded text safe to print, plurals',
    mayImport: [],
    packages: ['diff'],
  },
  json: {
    subject: 'values of JSON: canonical spelling, equality, faithful parsing',
    mayImport: [],
  },
  stats: {
    subject: 'intervals, tests and sequences: numbers in, numbers out',
    mayImport: [],
  },
  rules: {
    subject: 'the language of rules: reading, printing, and asking them of positions in a run; knows no tape',
    mayImport: ['errors', 'json'],
    packages: ['re2js'],
  },
  seam: {
    subject:
      'the one place an agent touches the world: wrappers, clock, random; observing (passive) and intercepting (active)',
    mayImport: ['errors'],
    packages: ['@mswjs/interceptors'],
  },
  tape: {
    subject: 'what a run is: header, events, moments; writing, reading, digests',
    mayImport: ['errors', 'json'],
  },
  wire: {
    subject: 'bytes → JSON values: content encodings, server-sent events, NDJSON, AWS event streams',
    mayImport: ['json'],
  },
  privacy: {
    subject: 'redaction before the first write',
    mayImport: ['errors', 'json', 'tape', 'wire'],
  },
  providers: {
    subject: 'JSON values ⇄ model calls, tool calls, usage; read late',
    mayImport: ['errors', 'json', 'tape', 'wire'],
  },
  record: {
    subject:
      'the seam in recording mode: **the production entry point**; providers only where an option counts what model calls use, rules only where one keeps by them',
    mayImport: ['errors', 'json', 'rules', 'tape', 'privacy', 'seam', 'providers', 'trace'],
  },
  provenance: {
    subject: 'pins, staleness; the only user of git',
    mayImport: ['errors', 'json', 'tape', 'seam', 'providers'],
    packages: ['simple-git'],
  },
  trace: {
    subject: 'a run as tool calls with causal order, and as positions for rules; comparing; the readable diff',
    mayImport: ['errors', 'json', 'rules', 'tape', 'providers'],
    packages: ['diff'],
  },
  exporters: {
    subject: 'tapes written in formats of other tools: OTLP, HAR, and the trace as plain JSON',
    mayImport: ['errors', 'json', 'tape', 'wire', 'providers', 'trace'],
  },
  importers: {
    subject: 'recordings of other tools made into tapes, with a grade that says what they are good for',
    mayImport: ['errors', 'json', 'tape', 'wire', 'seam', 'privacy', 'providers'],
    packages: ['yaml'],
  },
  match: {
    subject: 'which recorded answer belongs to a request, and what differs; no clock',
    mayImport: ['errors', 'json', 'tape', 'wire', 'seam', 'privacy', 'providers'],
  },
  playback: {
    subject: 'what replay and fork share: order, virtual time, nondeterministic reads, problems',
    mayImport: ['errors', 'json', 'tape', 'seam', 'providers', 'match'],
  },
  replay: {
    subject: 'strict replay: policy over match and playback, the verdict',
    mayImport: ['errors', 'json', 'tape', 'wire', 'seam', 'privacy', 'providers', 'match', 'playback'],
  },
  cases: {
    subject: 'the case file',
    mayImport: ['errors', 'json', 'tape', 'trace', 'provenance'],
    packages: ['yaml', 'diff'],
  },
  verdict: {
    subject: 'whether a replay is what its case says',
    mayImport: ['errors', 'json', 'tape', 'trace', 'match', 'replay', 'cases'],
  },
  recordings: {
    subject: 'inbox and golden set: folders, importing, promotion and back, the index of the tapes, holds, pruning',
    mayImport: ['importers', 'errors', 'json', 'rules', 'tape', 'privacy', 'providers', 'trace', 'provenance', 'cases'],
  },
  check: {
    subject: 'what may be committed, and how well a golden set is kept',
    mayImport: ['errors', 'json', 'tape', 'wire', 'privacy', 'providers', 'trace', 'provenance', 'cases', 'recordings'],
  },
  review: {
    subject: 'what a change to recordings means: weaker cases, what each tape does, duplicates',
    mayImport: [
      'errors',
      'json',
      'rules',
      'tape',
      'privacy',
      'providers',
      'trace',
      'provenance',
      'match',
      'cases',
      'recordings',
      'check',
    ],
  },
  live: {
    subject: 'models called for real, the rest from the tape; budgets; refusals of what is not on the tape',
    mayImport: ['errors', 'json', 'tape', 'seam', 'privacy', 'providers', 'match', 'playback', 'replay'],
  },
  jobs: {
    subject: "work lists for the project's own Vitest: protocol, runner, child program",
    mayImport: ['errors', 'json', 'tape', 'providers', 'match', 'replay', 'live'],
  },
  doctor: {
    subject: 'what makes a run irreproducible, found by experiment',
    mayImport: ['errors', 'json', 'tape', 'seam', 'providers', 'match', 'jobs'],
  },
  fork: {
    subject: 'a replayed prefix, changes, who answers behind it, branches',
    mayImport: [
      'errors',
      'json',
      'tape',
      'seam',
      'privacy',
      'providers',
      'trace',
      'provenance',
      'match',
      'playback',
      'replay',
      'live',
      'jobs',
    ],
  },
  blame: {
    subject: 'which step decided: forks, grades, real forks as draws, the cache of forks',
    mayImport: [
      'errors',
      'json',
      'stats',
      'rules',
      'tape',
      'providers',
      'trace',
      'provenance',
      'cases',
      'match',
      'replay',
      'live',
      'jobs',
      'fork',
    ],
  },
  faults: {
    subject: 'what can go wrong in a run, drawn at random, made to happen in forks, and shrunk to what is needed',
    mayImport: [
      'errors',
      'json',
      'stats',
      'tape',
      'seam',
      'providers',
      'trace',
      'match',
      'replay',
      'live',
      'jobs',
      'fork',
    ],
    packages: ['fast-check'],
  },
  isolate: {
    subject: 'which layer triggers a failure: code, sampling, data or timing',
    mayImport: ['errors', 'json', 'stats', 'tape', 'fork', 'jobs', 'blame', 'faults'],
    packages: ['fast-check'],
  },
  validation: {
    subject: 'whether blame is right: planted causes, scores, agents of your own',
    mayImport: [
      'errors',
      'json',
      'stats',
      'tape',
      'seam',
      'record',
      'replay',
      'live',
      'fork',
      'blame',
      'faults',
      'isolate',
    ],
  },
  report: {
    subject: 'results as text, JSON and pages: pure; `page/` runs in browsers and imports types alone',
    mayImport: [
      'errors',
      'json',
      'tape',
      'wire',
      'providers',
      'trace',
      'match',
      'provenance',
      'cases',
      'doctor',
      'blame',
      'faults',
    ],
    packages: ['diff', 'preact', '@preact/signals'],
  },
  debug: {
    subject: 'stepping through a run in both directions: its steps, what the model saw, the code of the agent',
    mayImport: [
      'errors',
      'json',
      'rules',
      'tape',
      'wire',
      'seam',
      'providers',
      'trace',
      'match',
      'replay',
      'jobs',
      'report',
    ],
    packages: ['diff'],
  },
}

const inner = Object.keys(rooms)

/** What users run and import: they may use every room, and never each other. */
export const entryPoints: Readonly<Record<string, Room>> = {
  index: { subject: 'the library: what `vitest-harvest` exports', mayImport: [...inner, 'library'] },
  library: { subject: 'the functions behind it; each loads its room when it is called', mayImport: inner },
  vitest: { subject: 'plugin, worker runtime, matchers, reporter', mayImport: inner, packages: ['vitest'] },
  bin: { subject: 'the program: checks the version of Node', mayImport: ['cli', 'vitest'] },
  cli: { subject: 'the command line', mayImport: inner, packages: ['diff'] },
}

/** The rows of docs/architecture.md. */
export function tableOfRooms(): string {
  const row = ([name, { subject, mayImport }]: readonly [string, Room]): string =>
    `| \`${name}\` | ${subject} | ${name in rooms ? mayImport.join(', ') : 'every room'} |`.replace('|  |', '| |')
  const all = [...Object.entries(rooms), ...Object.entries(entryPoints)].map(row)
  return ['| Room | Subject | May import |', '|---|---|---|', ...all].join('\n')
}
