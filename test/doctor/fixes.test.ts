import asyncHooks from 'node:async_hooks'
import crypto from 'node:crypto'
import { writeFileSync } from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import v8 from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { isInRepository } from '../../src/doctor/findings.ts'
import { type FindingKind, fixOf } from '../../src/doctor/fixes.ts'
import { encodeValue, lossesIn } from '../../src/tape/index.ts'
import { scratch } from '../cli/harvest.ts'

const formatters = [
  'NumberFormat',
  'DateTimeFormat',
  'Collator',
  'PluralRules',
  'RelativeTimeFormat',
  'ListFormat',
  'Segmenter',
].map((name) => `Intl.${name}()`)

test.each([
  ['crypto.generateKeyPairSync()'],
  ['crypto.generateKey()'],
  ['crypto.subtle.generateKey()'],
  ['crypto.createECDH().generateKeys()'],
  ['crypto.createDiffieHellman()'],
  ['crypto.createDiffieHellman().generateKeys()'],
])('%s makes a live object: value() is not proposed around it', (name) => {
  const fix = fixOf('random', name).join('\n')
  expect(fix).not.toContain('value(')
  expect(fix).toContain('returns plain data: tool(')
})

test('around plain data it is, with the arguments left open', () => {
  expect(fixOf('random', 'crypto.sign()')).toContain("record its answer: value('sign', () => crypto.sign(…))")
  expect(fixOf('process', 'process.pid')).toContain("record its answer: value('pid', () => process.pid)")
})

/** What a probe of doctor calls what it heard, with the kinds it has. */
const heard: readonly (readonly [FindingKind, readonly string[]])[] = [
  ['clock', ['process.uptime()', 'process.cpuUsage()', 'process.hrtime()', 'process.hrtime.bigint()', 'os.uptime()']],
  ['clock', ['performance.timeOrigin', 'performance.toJSON()', 'event.timeStamp', 'file.lastModified']],
  ['clock', ['performance.mark().startTime', 'Intl.DateTimeFormat#format()', 'Intl.DateTimeFormat#formatToParts()']],
  ['clock', ["node:sqlite, SQLite's clock", 'performance.measure().duration']],
  ['process', ['process.pid', 'process.ppid', 'process.title', 'process.argv', 'process.execArgv']],
  ['process', ['getuid', 'geteuid', 'getgid', 'getegid', 'getgroups', 'umask'].map((name) => `process.${name}()`)],
  ['process', ['async_hooks.executionAsyncId()', 'async_hooks.triggerAsyncId()']],
  ['machine', ['platform', 'arch', 'version', 'versions', 'release', 'config'].map((name) => `process.${name}`)],
  ['machine', ['hostname', 'platform', 'arch', 'type', 'release', 'version', 'machine'].map((name) => `os.${name}()`)],
  ['machine', ['endianness', 'cpus', 'availableParallelism'].map((name) => `os.${name}()`)],
  ['machine', ['os.networkInterfaces()', 'os.userInfo()', 'navigator.hardwareConcurrency', 'navigator.userAgent']],
  ['machine', ['navigator.platform', 'fs.statfsSync()']],
  ['memory', ['memoryUsage', 'memoryUsage.rss', 'resourceUsage'].map((name) => `process.${name}()`)],
  ['memory', ['availableMemory', 'constrainedMemory'].map((name) => `process.${name}()`)],
  [
    'memory',
    ['os.totalmem()', 'os.freemem()', 'os.loadavg()', 'v8.getHeapStatistics()', 'v8.getHeapSpaceStatistics()'],
  ],
  ['path', ['process.cwd()', 'process.execPath', 'os.homedir()', 'os.tmpdir()', 'error.stack']],
  ['locale', ['navigator.language', 'navigator.languages', 'Number#toLocaleString()', 'String#localeCompare()']],
  ...(['time zone', 'locale'] as const).map((kind): readonly [FindingKind, readonly string[]] => [
    kind,
    kind === 'time zone' ? ['Intl.DateTimeFormat()', 'Date#getHours()', 'Date#setHours()'] : formatters,
  ]),
  ['environment', ['process.env.PATH', 'process.env, all of it']],
  [
    'random',
    ['generateKeyPairSync', 'generateKeySync', 'generateKeyPair', 'generateKey'].map((name) => `crypto.${name}()`),
  ],
  [
    'random',
    ['generatePrimeSync', 'generatePrime', 'createDiffieHellman', 'publicEncrypt', 'sign'].map(
      (name) => `crypto.${name}()`,
    ),
  ],
  ['random', ['crypto.createSign().sign()', 'crypto.encapsulate()', 'URL.createObjectURL()', 'node:sqlite, random()']],
  ['random', ['generateKey', 'sign', 'encrypt', 'wrapKey', 'encapsulateKey'].map((name) => `crypto.subtle.${name}()`)],
  ['temporary name', ['fs.mkdtempSync()', 'fs.mkdtemp()']],
  ['file', ['fs.readFileSync notes.txt']],
  ['file times', ['fs.statSync notes.txt']],
  ['directory', ['fs.readdirSync rules']],
  ['database', ['node:sqlite shop.db']],
  ['another realm', ['node:vm']],
]

/** Arguments for what is proposed with them left open; a sample for what it is said of a line. */
const pair = crypto.generateKeyPairSync('rsa', { modulusLength: 1024 })
const samples: Readonly<Record<string, () => unknown>> = {
  'crypto.generatePrimeSync(…)': () => crypto.generatePrimeSync(32),
  'crypto.publicEncrypt(…)': () => crypto.publicEncrypt(pair.publicKey, Buffer.from('a')),
  'crypto.sign(…)': () => crypto.sign('sha256', Buffer.from('a'), pair.privateKey),
  'crypto.createSign().sign(…)': () => crypto.createSign('sha256').update('a').sign(pair.privateKey),
  'crypto.encapsulate(…)': () => ({ sharedKey: Buffer.from('a'), ciphertext: Buffer.from('b') }),
  'crypto.subtle.sign(…)': () => new ArrayBuffer(4),
  'crypto.subtle.encrypt(…)': () => new ArrayBuffer(4),
  'crypto.subtle.wrapKey(…)': () => new ArrayBuffer(4),
  'performance.mark().startTime': () => 1.5,
  'Intl.DateTimeFormat#formatToParts()': () => new Intl.DateTimeFormat('en').formatToParts(0),
  "node:sqlite, SQLite's clock": () => new DatabaseSync(':memory:').prepare('select 1 as now').get(),
  'node:sqlite, random()': () => new DatabaseSync(':memory:').prepare('select abs(random() % 9) as one').all(),
}

test.each(heard.flatMap(([kind, names]) => names.map((name) => [kind, name] as const)))(
  '%s %s: what value() is proposed around is held by a tape without loss',
  (kind, name) => {
    for (const line of fixOf(kind, name)) {
      const [, expression] = /value\('[\w]+', \(\) => (.*)\)$/.exec(line) ?? []
      if (expression === undefined) expect(line).not.toContain('value(')
      else if (expression === '…')
        expect(lossesIn(encodeValue((samples[name] ?? (() => 'text of the line'))()))).toEqual([])
      else expect(lossesIn(encodeValue((samples[expression] ?? (() => evaluate(expression)))()))).toEqual([])
    }
  },
)

test.each([['time zone', 'Intl.DateTimeFormat()'], ...formatters.map((name) => ['locale', name])] as [
  FindingKind,
  string,
][])('%s %s: a formatter is not recorded, but what it takes of the machine', (kind, name) => {
  const fix = fixOf(kind, name).join('\n')
  expect(fix).not.toContain(`${name})`)
  expect(fix).toContain(
    kind === 'locale'
      ? `value('locale', () => new ${name}.resolvedOptions().locale)`
      : `value('zone', () => new ${name}.resolvedOptions().timeZone)`,
  )
})

test('what changes a date is not recorded: a replay would leave the date as it is', () => {
  expect(fixOf('time zone', 'Date#setHours()').join('\n')).not.toContain('value(')
})

/** An expression as it is proposed, where the modules are imported by their names. */
function evaluate(expression: string): unknown {
  const scope = {
    os,
    v8,
    async_hooks: asyncHooks,
    event: new Event('e'),
    file: new File([], 'f'),
    error: new Error('e'),
  }
  return runInNewContext(expression, { ...scope, process, performance, navigator, Intl }) as unknown
}

test.each([
  ["import { hostname } from 'node:os'; const a = `${hostname()}`", 'os.hostname()', 'hostname()'],
  ['const a = system . hostname()', 'os.hostname()', 'system . hostname()'],
  ["const a = process.env['SHOP_REGION']", 'process.env.SHOP_REGION', "process.env['SHOP_REGION']"],
  ['const a = env.SHOP_REGION', 'process.env.SHOP_REGION', 'env.SHOP_REGION'],
  ['const { SHOP_REGION } = process.env', 'process.env.SHOP_REGION', 'process.env.SHOP_REGION'],
  ["const a = sign('sha256', data, key)", 'crypto.sign()', 'sign(…)'],
  ['const a = myhostname()', 'os.hostname()', 'os.hostname()'],
  ['const a = one.memoryUsage.rss()', 'process.memoryUsage.rss()', 'one.memoryUsage.rss()'],
])('the expression is that of the line, where the line has it: %s', (line, name, expression) => {
  const file = join(scratch(), 'agent.ts')
  writeFileSync(file, `// the agent\n${line}\n`)
  const kind = name.startsWith('process.env') ? 'environment' : name.startsWith('crypto') ? 'random' : 'machine'
  expect(fixOf(kind, name, { site: `${file}:2:7` }).join('\n')).toContain(`() => ${expression})`)
  expect(fixOf(kind, name, { site: `${file}.gone:2:7` }).join('\n')).toContain(
    `() => ${name.replace('sign()', 'sign(…)')})`,
  )
})

test('a file outside of the repository cannot be committed: a copy of it can', () => {
  const isVersioned = (path: string): boolean => path === '/srv/shop' || path === '/srv/shop/rules'
  expect(
    ['/srv/shop/var/a/notes.txt', '/srv/shop/a', '/srv/other/a'].map((one) => isInRepository(one, isVersioned)),
  ).toEqual([true, true, false])
  for (const kind of ['file', 'directory'] as const) {
    expect(fixOf(kind, 'fs.readFile notes.txt').join('\n')).toContain('or commit the ')
    const outside = fixOf(kind, 'fs.readFile /etc/notes.txt', { isOutside: true }).join('\n')
    expect(outside).not.toContain('or commit the ')
    expect(outside).toContain('or read a copy of it in the project, and commit that')
  }
})

test('what a package asks for may be a client: value() is never proposed', () => {
  expect(fixOf('random', 'crypto.sign()', { via: 'jose' }).join('\n')).not.toContain('value(')
})

test('around an address it is not, whether the name or the value says that it is one', () => {
  const [name, isAddress] = ['process.env.SHOP_SERVER', true] as const
  expect(fixOf('environment', name).join('\n')).toContain('value(')
  for (const fix of [fixOf('environment', name, { isAddress }), fixOf('environment', 'process.env.OPENAI_API_BASE')])
    expect(fix.join('\n')).not.toContain('value(')
})
