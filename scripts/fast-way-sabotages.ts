// node scripts/fast-way-sabotages.ts [NAME…]: breaks the answers above undici, and those of `node:http` without the interceptor, in one
// place at a time, in a copy, and counts the tests that fail. Exit code 1 when fewer than three notice a sabotage.
import { spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

interface Sabotage {
  readonly name: string
  readonly file: string
  readonly from: string
  readonly to: string
}

const ofFetch = 'seam/intercept/expected-fetch.ts'
const ofResponse = 'seam/intercept/own-response.ts'
const ofHttp = 'seam/intercept/expected-http.ts'
const ofRun = 'replay/expected.ts'

const sabotages: readonly Sabotage[] = [
  {
    name: 'fetch: wrong chunk',
    file: ofFetch,
    from: 'const bytes = this.#taken()',
    to: 'const bytes = this.#taken().map((byte) => (byte === 0x64 ? 0x65 : byte))',
  },
  {
    name: 'fetch: chunk twice',
    file: ofFetch,
    from: 'stream.enqueue(bytes)',
    to: 'const twice = bytes.slice()\n      stream.enqueue(bytes)\n      stream.enqueue(twice)',
  },
  {
    name: 'fetch: chunks of one turn in wrong order',
    file: ofFetch,
    from: 'this.#text += piece',
    to: 'this.#text = piece + this.#text',
  },
  {
    name: 'fetch: late body',
    file: ofFetch,
    from: 'process.nextTick(() => {\n      this.#isFlushing',
    to: 'setTimeout(() => {\n      this.#isFlushing',
  },
  {
    name: 'fetch: abort ignored',
    file: ofFetch,
    from: 'if (signal) answer.heed(signal)',
    to: 'void answer.heed',
  },
  {
    name: 'fetch: abort before the call ignored',
    file: ofFetch,
    from: 'if (signal?.aborted === true) return',
    to: 'if (signal?.aborted === undefined && signal !== undefined && signal !== null) return',
  },
  {
    name: 'fetch: abort of a stream ignored',
    file: ofFetch,
    from: 'if (isOpen) this.#stream?.error(reason)',
    to: 'if (isOpen) return',
  },
  {
    name: 'fetch: the run hears of no abort',
    file: ofFetch,
    from: 'this.#control?.abort()\n    if (isOpen)',
    to: 'if (isOpen)',
  },
  {
    name: 'fetch: cancel ignored',
    file: ofFetch,
    from: 'cancel: () => this.#cancel(),',
    to: 'cancel: () => void this.#cancel,',
  },
  {
    name: 'fetch: late head',
    file: ofFetch,
    from: 'afterHead(() => {',
    to: 'setTimeout(() => {',
  },
  { name: 'fetch: early head', file: ofFetch, from: 'afterHead(() => {', to: 'afterTurns(0, () => {' },
  {
    name: 'fetch: no end',
    file: ofFetch,
    from: '    this.#isEnded = true\n    this.#flushSoon()',
    to: '    this.#flushSoon()',
  },
  {
    name: 'fetch: wrong status',
    file: ofFetch,
    from: '{ status, statusText, headers }, body)',
    to: '{ status: 200, statusText, headers }, body)',
  },
  {
    name: 'fetch: lost header',
    file: ofFetch,
    from: '{ status, statusText, headers }, body)',
    to: '{ status, statusText, headers: headers.slice(1) }, body)',
  },
  { name: 'fetch: no address', file: ofResponse, from: 'facts.set(response, { url })', to: 'void url' },
  { name: 'fetch: headers can change', file: ofResponse, from: 'immutable.add(response.headers)', to: 'void response' },
  { name: 'fetch: copies forget', file: ofResponse, from: 'facts.set(copy, of)', to: 'void of' },
  {
    name: 'fetch: encoded body as it is',
    file: ofResponse,
    from: "name.toLowerCase() !== 'content-encoding' && ",
    to: '',
  },
  {
    name: 'fetch: no turn before it is asked',
    file: ofFetch,
    from: 'afterTurns(1, () => this.#ask(run, sent))',
    to: 'this.#ask(run, sent)',
  },
  { name: 'fetch: nothing for observers', file: ofFetch, from: '      this.#mark()\n', to: '' },
  {
    name: 'both: gate skipped',
    file: 'playback/scheduler.ts',
    from: 'if (this.#options.ungated) {',
    to: 'if (this.#ready !== undefined) {',
  },
  {
    name: 'both: expected out of turn',
    file: ofRun,
    from: ' || !order.isDue(step)) return',
    to: ' || order === undefined) return',
  },
  {
    name: 'both: expected twice',
    file: ofRun,
    from: ' || this.#promised.has(step) ||',
    to: ' ||',
  },
  {
    name: 'both: headers not compared',
    file: ofRun,
    from: 'if (headerDrift(recorded, live, this.#run.comparison(step, via)).length > 0) return undefined',
    to: '',
  },
  {
    name: 'node:http: wrong chunk',
    file: ofHttp,
    from: 'packet.write(piece, at)',
    to: "packet.write(piece.replaceAll('d', 'e'), at)",
  },
  {
    name: 'node:http: chunks of one turn in wrong order',
    file: ofHttp,
    from: 'this.#pieces.push(...pieces)',
    to: 'this.#pieces.unshift(...pieces)',
  },
  {
    name: 'node:http: abort ignored',
    file: ofHttp,
    from: "    this.#state = 'settled'\n    this.#control?.abort()",
    to: "    this.#state = 'settled'",
  },
  {
    name: 'node:http: more after an abort',
    file: ofHttp,
    from: "    if (this.#state === 'settled') return\n    this.#state = 'settled'\n    this.#control?.abort()",
    to: '',
  },
  {
    name: 'node:http: late body',
    file: ofHttp,
    from: "this.#state === 'open' && isFirst",
    to: "this.#state === 'open' && isFirst && this.#left <= 0",
  },
  {
    name: 'node:http: late head',
    file: ofHttp,
    from: 'thrownAfterHead(() => {',
    to: 'const late = (work: () => void) => thrownAfterHead(() => thrownAfterHead(work))\n    late(() => {',
  },
  { name: 'node:http: early head', file: ofHttp, from: 'thrownAfterHead(() => {', to: 'queueMicrotask(() => {' },
  {
    name: 'node:http: wrong status',
    file: ofHttp,
    from: 'let text = `HTTP/1.1 ${status} ',
    to: 'let text = `HTTP/1.1 200 ',
  },
  {
    name: 'node:http: lost header',
    file: ofHttp,
    from: 'if (!isAboutConnection(pair[0])) text',
    to: 'if (!isAboutConnection(pair[0]) && !/^(?:content-type|retry-)/i.test(pair[0])) text',
  },
  {
    name: 'node:http: a first connection is not made',
    file: ofHttp,
    from: 'this.#context.run(() => controller.claim())',
    to: 'void controller',
  },
  {
    name: 'node:http: a connection ends later than those of the interceptor',
    file: ofHttp,
    from: '      endAsAnswered(this.#socket)\n',
    to: '      void endAsAnswered\n',
  },
  {
    name: 'node:http: pieces in one packet',
    file: ofHttp,
    from: 'this.#framing.length === undefined ? pieces.length : 1',
    to: 'this.#framing.length === -1 ? 1 : pieces.length',
  },
]

/** Tests of the fast way, the quick ones first: the others run where the first do not suffice. */
const suites = [
  ['test/replay/both-ways', 'test/replay/expected'],
  ['test/replay/order', 'test/replay/run', 'test/seam/plain-fetch', 'test/fidelity/scenarios'],
  ['test/clients/clients', 'test/fidelity/order', 'test/fidelity/concurrent', 'test/fidelity/clock'],
]
const wanted = 3

const root = dirname(import.meta.dirname)
const chosen = process.argv.slice(2)
const folder = mkdtempSync(join(tmpdir(), 'harvest-fast-way-'))
let unnoticed = 0
try {
  for (const one of [
    'src',
    'test',
    'fixtures',
    'vitest.config.ts',
    'package.json',
    'tsconfig.json',
    'case.schema.json',
  ])
    cpSync(join(root, one), join(folder, one), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  const red = await failing(suites.flat())
  if (red.length > 0) throw new Error(`Tests fail already: ${red.join('; ')}`)
  console.log('as it is: every test passes')
  console.log(`\n| sabotage | failing tests | of these\n|---|--:|---`)
  for (const one of sabotages.filter(({ name }) => chosen.length === 0 || chosen.includes(name))) {
    const names = await noticedBy(one)
    if (names.length < wanted) unnoticed++
    const mark = names.length < wanted ? ' (TOO FEW)' : ''
    console.log(`| ${one.name} | ${names.length}${mark} | ${names.slice(0, wanted).join('; ')}`)
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
process.exitCode = unnoticed > 0 ? 1 : 0

async function noticedBy({ name, file, from, to }: Sabotage): Promise<readonly string[]> {
  const path = join(folder, 'src', file)
  const text = readFileSync(path, 'utf8')
  if (text.split(from).length !== 2) throw new Error(`${name}: ${file} must have this once: ${from}`)
  writeFileSync(
    path,
    text.replace(from, () => to),
  )
  try {
    const red: string[] = []
    for (const files of suites) if (red.length < wanted) red.push(...(await failing(files)))
    return red
  } finally {
    writeFileSync(path, text)
  }
}

/** Names of the tests that fail. A file whose tests cannot begin counts as one. */
async function failing(files: readonly string[]): Promise<readonly string[]> {
  const report = join(folder, 'report.json')
  rmSync(report, { force: true })
  const vitest = join(root, 'node_modules/vitest/vitest.mjs')
  const paths = files.map((file) => `${file}.test.ts`)
  const flags = ['--typecheck.enabled=false', '--maxWorkers=2', '--testTimeout=60000', '--hookTimeout=120000']
  const output = ['--reporter=json', `--outputFile=${report}`]
  const child = spawn(process.execPath, [vitest, 'run', ...paths, ...flags, ...output], {
    cwd: folder,
    stdio: 'ignore',
  })
  await new Promise((resolve, reject) => child.once('close', resolve).once('error', reject))
  const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as Report
  if (testResults.length !== files.length) throw new Error(`${testResults.length} of ${files.length} files ran`)
  return testResults.flatMap(({ name, status, assertionResults }) => {
    const failed = assertionResults.filter((test) => test.status === 'failed').map(({ title }) => title)
    return failed.length === 0 && status === 'failed' ? [`${name.slice(folder.length + 1)} as a whole`] : failed
  })
}

interface Report {
  readonly testResults: readonly {
    readonly name: string
    readonly status: string
    readonly assertionResults: readonly { readonly title: string; readonly status: string }[]
  }[]
}
