import '../support/packed.ts'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { many } from '../cli/many.ts'
import { configFor, project as makeProject } from '../cli/project.ts'
import { cassette, samples } from '../importers/samples.ts'
import { foreignCases } from './foreign-cases.ts'

// What a stranger brings as cases, tapes and recordings of other tools, given to the installed commands.
let base = ''
beforeAll(() => {
  base = makeProject({
    'src/agent.ts': 'export default () => undefined\n',
    'vitest.config.ts': configFor({ quiet: './src/agent.ts' }),
  })
})
afterAll(() => rmSync(base, { recursive: true, force: true }))

function write(file: string, content: string | Buffer): void {
  mkdirSync(dirname(join(base, file)), { recursive: true })
  writeFileSync(join(base, file), content)
}

/** Every file but those in `made`, by its digest. */
function files(made: string): Readonly<Record<string, string>> {
  const all = readdirSync(base, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const paths = all.map((entry) => join(entry.parentPath, entry.name))
  const kept = paths.filter((file) => !/node_modules|\.harvest/.test(file) && !file.startsWith(join(base, made)))
  return Object.fromEntries(kept.map((file) => [file, createHash('sha256').update(readFileSync(file)).digest('hex')]))
}

describe('a case or tape that is not sound', () => {
  const foreign = foreignCases()

  it('is refused by name by `check`, and by every command that is given it, and nothing of it runs', {
    tags: 'thorough',
  }, () => {
    for (const [file, content] of Object.entries(foreign.files)) write(file, content)
    const names = Object.keys(foreign.codes)
    const lines = names.flatMap((name) => {
      const golden = `recordings/golden/${name}`
      return [
        ['check', `${golden}.case.yaml`, `${golden}.tape.jsonl`],
        ['show', `${golden}.case.yaml`],
        ['blame', name, '--dry-run', '--cross-version'],
        ['fork', name, '--step', '1', '--set', 'result=1'],
      ]
    })
    const before = files('nowhere')
    const answers = many([...lines, ['check'], ['check', '--pins'], ['ls']], base, { CI: '1' })
    expect(answers.flatMap(({ code }, at) => (code === 101 || code === 0 ? [lines[at] ?? 'all of them'] : []))).toEqual(
      [],
    )
    const checks = names.map((name, at) => ({ name, ...answers[at * 4]! }))
    expect(checks.filter(({ code }) => code !== 1 && code !== 3)).toEqual([])
    expect(
      checks
        .filter(({ name, stdout, stderr }) => !(stdout + stderr).includes(foreign.codes[name]!))
        .map(({ name }) => name),
    ).toEqual([])
    expect(foreign.canaries.filter((file) => existsSync(join(base, file)))).toEqual([])
    expect(files('nowhere')).toEqual(before)
  })
})

const touch = 'touch canary-of-an-import'
/** Recordings of other tools that would run, reach, read or fill something. */
const hostile: Readonly<Record<string, string | Buffer>> = {
  'python.yaml': cassette(`!!python/object/apply:os.system ["${touch}"]`),
  'javascript.yaml': cassette(`!!js/function "function () { require('child_process').execSync('${touch}') }"`),
  'ruby.yaml': cassette('!ruby/object:Gem::Installer\n        i: x'),
  'bomb.yaml': cassette(`!!binary ${gzipSync(Buffer.alloc(64 * 1024 * 1024)).toString('base64')}`),
  'aliases.yaml': `a: &a [x,x,x,x,x,x,x,x,x]\n${[...'bcdefghi'].map((name, at) => `${name}: &${name} [${`*${'abcdefgh'[at]},`.repeat(8)}*${'abcdefgh'[at]}]\n`).join('')}interactions: *i\n`,
  'depth.json': '['.repeat(200_000),
  'proto.har': JSON.stringify({ log: { entries: [], version: '1.2' } }).replace(
    '"entries"',
    '"__proto__":{"polluted":1},"entries"',
  ),
  'file.har': samples.har.replaceAll('https://api.openai.com', 'file:///etc'),
  'outside.json': samples.otlp.replaceAll(/"traceId": ?"[^"]*"/g, '"traceId":"../../../../outside"'),
  'name.har': samples.har.replaceAll('chatcmpl-1', '\u001b[31m../../../outside'),
}

describe('a recording of another tool', () => {
  it('makes tapes where it was told to, or is refused with what is wrong, and reaches nothing else', () => {
    for (const [name, content] of Object.entries(hostile)) write(`foreign/${name}`, content)
    symlinkSync('/etc/passwd', join(base, 'foreign/link.yaml'))
    symlinkSync('/dev/zero', join(base, 'foreign/endless.har'))
    const names = [...Object.keys(hostile), 'link.yaml', 'endless.har']
    const before = files('imported')
    const lines = names.map((name) => ['import', `foreign/${name}`, '--dir', 'imported'])
    const answers = many(lines, base, { CI: '1' })
    const fates = answers.map(({ code, stderr }) =>
      code === 0 ? 'imported' : (/HARVEST_IMPORT_\w+/.exec(stderr)?.[0] ?? `${code} ${stderr}`),
    )
    const fateOf = Object.fromEntries(names.map((name, at) => [name, fates[at]]))
    expect(fateOf).toEqual({
      'python.yaml': 'HARVEST_IMPORT_TAG',
      'javascript.yaml': 'HARVEST_IMPORT_TAG',
      'ruby.yaml': 'HARVEST_IMPORT_TAG',
      'bomb.yaml': 'HARVEST_IMPORT_BOMB',
      'aliases.yaml': 'HARVEST_IMPORT_BOMB',
      'depth.json': 'HARVEST_IMPORT_TOO_DEEP',
      'proto.har': 'HARVEST_IMPORT_EMPTY',
      'file.har': 'HARVEST_IMPORT_SHAPE',
      'outside.json': 'imported',
      'name.har': 'imported',
      'link.yaml': 'HARVEST_IMPORT_MISSING',
      'endless.har': 'HARVEST_IMPORT_MISSING',
    })
    expect(
      answers.filter(({ stdout, stderr }) => (stdout + stderr).includes('\u001b[31m') || /root:/.test(stdout + stderr)),
    ).toEqual([])
    expect(files('imported')).toEqual(before)
    expect(existsSync(join(base, 'canary-of-an-import'))).toBe(false)
    expect(existsSync(join(dirname(base), 'outside.tape.jsonl'))).toBe(false)
  })
})
