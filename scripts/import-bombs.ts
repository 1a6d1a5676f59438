import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { HarvestError } from '../src/errors/index.ts'
import { importRecordings } from '../src/importers/index.ts'

/**
 * Imports files that were made to take long, or to become large, each in a process of its own, and prints how long their
 * refusal took, and how much processor time: more than that where code is compiled beside. Exits with 1 when one is imported, or ends in anything but a typed error.
 *
 *     node scripts/import-bombs.ts [WORD]
 */
const [word = '', file] = process.argv.slice(2)

const packed = {
  gzip: gzipSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
  deflate: deflateSync,
  'gzip, gzip, gzip': (bytes: Buffer) => gzipSync(gzipSync(gzipSync(bytes))),
}

const decompression = {
  'a file of gzip': () => gzipSync(Buffer.alloc(200e6, ' ')),
  ...Object.fromEntries(
    Object.entries(packed).map(([coding, pack]) => [
      `a body of ${coding}`,
      () => cassette(callOf(pack(Buffer.alloc(100e6)), coding)),
    ]),
  ),
  '600 bodies of gzip': () => cassette(callOf(gzipSync(Buffer.alloc(128 * 1024)), 'gzip').repeat(600)),
  '2,000 bodies of gzip, HAR': () => har(gzipSync(Buffer.alloc(128 * 1024)).toString('base64'), 2_000),
}

const aliases = {
  'aliases of aliases': () => {
    const levels = Array.from({ length: 9 }, (_, i) => `a${i + 1}: &a${i + 1} [${Array(10).fill(`*a${i}`).join(',')}]`)
    return `a0: &a0 x\n${levels.join('\n')}\ninteractions: []\n`
  },
  'aliases of a long text': () => `a: &a ${'x'.repeat(1_100_000)}\nb: [${Array(10).fill('*a').join(',')}]\n`,
  'a million aliases': () => `a: &a x\nb: [${'*a,'.repeat(1_000_000)}]\n`,
  'merged aliases': () => `a: &a {k: v}\nb:\n${'  <<: *a\n'.repeat(200_000)}`,
  'an alias of itself': () => 'a: &a [*a]\ninteractions: []\n',
}

const depth = {
  'lists in JSON': () => '['.repeat(5_000_000),
  'maps in JSON': () => '{"a":'.repeat(1_000_000),
  'lists in YAML': () => `interactions: ${'['.repeat(1_000_000)}`,
  'blocks in YAML': () => '- '.repeat(1_000_000),
  'questions in YAML': () => '? '.repeat(500_000),
  'maps in YAML': () => Array.from({ length: 3_000 }, (_, i) => `${' '.repeat(i)}a:`).join('\n'),
}

const size = {
  'digits in JSON': () => `[${'1'.repeat(20_000_000)}]`,
  'digits in YAML': () => `interactions: ${'1'.repeat(20_000_000)}\n`,
  'hexadecimal digits in YAML': () => `interactions: 0x${'f'.repeat(20_000_000)}\n`,
  'numbers in JSON': () => `[${'1,'.repeat(10_000_000)}1]`,
  'empty texts in JSON': () => `[${'"",'.repeat(7_000_000)}1]`,
  'empty maps in JSON': () => `[${'{},'.repeat(7_000_000)}{}]`,
  'names in a map of JSON': () => `{${'"a":1,'.repeat(3_000_000)}"b":1}`,
  'numbers in YAML': () => `a: [${'1,'.repeat(10_000_000)}]\n`,
  'items in YAML': () => `interactions:\n${'- a\n'.repeat(5_000_000)}`,
  'names in YAML': () => Array.from({ length: 1_000_000 }, (_, i) => `k${i}: 1`).join('\n'),
  'comments in YAML': () => `${'# x\n'.repeat(5_000_000)}a: 1\n`,
  'empty lines in YAML': () => `interactions:\n${'\n'.repeat(20_000_000)}`,
  'lines of a folded text': () => `interactions: >\n${'  x\n'.repeat(5_000_000)}`,
  'documents in YAML': () => '---\na: 1\n'.repeat(1_000_000),
  'tags in YAML': () => `a: [${'!!str x,'.repeat(1_000_000)}]`,
  'lines of JSON': () => '{}\n'.repeat(7_000_000),
  'calls of httprr': () => `httprr trace v1\n${'0 0\n'.repeat(5_000_000)}`,
  'zero bytes': () => Buffer.alloc(20_000_000),
}

const classes: Readonly<Record<string, Readonly<Record<string, () => string | Buffer>>>> = {
  decompression,
  aliases,
  depth,
  size,
}

if (file === undefined) runAll()
else importOne(file)

interface Fate {
  readonly code: string
  /** By the clock. */
  readonly ms: number
  readonly processorMs: number
}

function runAll(): void {
  const folder = mkdtempSync(join(tmpdir(), 'harvest-bombs-'))
  const fates: (Fate & { readonly name: string })[] = []
  try {
    for (const [kind, bombs] of Object.entries(classes))
      for (const [name, make] of Object.entries(bombs)) {
        if (!`${kind} ${name}`.includes(word)) continue
        const content = Buffer.from(make())
        writeFileSync(join(folder, 'bomb'), content)
        const told = execFileSync(process.execPath, [import.meta.filename, name, join(folder, 'bomb')])
        const fate = JSON.parse(told.toString()) as Fate
        fates.push({ name, ...fate })
        const megabytes = (content.length / 1e6).toFixed(2).padStart(6)
        const [ms, processorMs] = [fate.ms, fate.processorMs].map((one) => one.toFixed(0).padStart(4))
        const took = `${ms} ms, processor ${processorMs} ms`
        console.log(`${kind.padEnd(14)} ${name.padEnd(28)} ${megabytes} MB ${took}  ${fate.code}`)
      }
  } finally {
    rmSync(folder, { recursive: true })
  }
  const [slowest] = fates.toSorted((a, b) => b.ms - a.ms)
  if (slowest === undefined) throw new Error(`no bomb is called ${word}`)
  const refused = fates.filter(({ code }) => code.startsWith('HARVEST_IMPORT_'))
  const slow = fates.filter(({ ms }) => ms >= 100)
  console.log(`${refused.length} of ${fates.length} refused, ${slow.length} of them in 100 ms or more`)
  console.log(`the slowest took ${slowest.ms.toFixed(0)} ms (${slowest.name})`)
  if (refused.length < fates.length) process.exitCode = 1
}

function importOne(path: string): void {
  const bytes = readFileSync(path)
  const [before, began] = [process.cpuUsage(), performance.now()]
  const code = fateOf(bytes)
  const ms = performance.now() - began
  const { user, system } = process.cpuUsage(before)
  console.log(JSON.stringify({ code, ms, processorMs: (user + system) / 1000 } satisfies Fate))
}

function fateOf(bytes: Buffer): string {
  try {
    for (const _ of importRecordings({ file: 'bomb', bytes, id: 'bomb', agent: 'bomb' }).tapes) continue
    return 'imported'
  } catch (error) {
    return HarvestError.is(error) ? error.code : String(error)
  }
}

function cassette(calls: string): string {
  return `interactions:\n${calls}version: 1\n`
}

function callOf(body: Buffer, coding: string): string {
  return `- request: {method: GET, uri: 'https://api.example/', headers: {}, body: null}
  response:
    status: {code: 200, message: OK}
    headers: {content-encoding: ['${coding}']}
    body: {string: !!binary ${body.toString('base64')}}
`
}

function har(text: string, count: number): string {
  const headers = [{ name: 'content-encoding', value: 'gzip' }]
  const call = {
    request: { method: 'GET', url: 'https://api.example/', headers: [] },
    response: { status: 200, headers, content: { encoding: 'base64', text } },
  }
  return JSON.stringify({ log: { entries: Array(count).fill(call) } })
}
