import os from 'node:os'
import v8 from 'node:v8'
import asyncHooks from 'node:async_hooks'
import { seamState } from '../../seam/source.ts'
import { alias, alter, alterVersion, grow, shrink } from './alter.ts'
import { patchAnswer, patchValue } from './patching.ts'
import type { SourceKind, Ways } from './probe.ts'

const another: Ways<unknown> = { 'another value': alter }
/** Some code asks only whether it is much, or only whether it is little. */
const amount: Ways<unknown> = { ...another, 'a larger value': grow, 'a smaller value': shrink }
/** So many that code may make as many of its own. */
const number: Ways<unknown> = { ...another, 'a smaller value': shrink }
/** Some code asks only whether it is that of the administrator. */
const identity: Ways<unknown> = { ...amount, 'that of root': () => 0 }
const version: Ways<unknown> = {
  'another version': (noted) => alterVersion(noted, 1),
  'an earlier version': (noted) => alterVersion(noted, -1),
}
const machines: Readonly<Record<string, Ways<unknown>>> = {
  platform: {
    'another system': (noted) => (noted === 'win32' ? 'linux' : 'win32'),
    'a third system': (noted) => (noted === 'darwin' ? 'linux' : 'darwin'),
  },
  type: {
    'another system': (noted) => (noted === 'Windows_NT' ? 'Linux' : 'Windows_NT'),
    'a third system': (noted) => (noted === 'Darwin' ? 'Linux' : 'Darwin'),
  },
  arch: {
    'another processor': (noted) => (noted === 'arm64' ? 'x64' : 'arm64'),
    'a third processor': (noted) => (noted === 'ia32' ? 'x64' : 'ia32'),
  },
  endianness: { 'the other order': (noted) => (noted === 'LE' ? 'BE' : 'LE') },
  version,
  versions: version,
  release: version,
  cpus: { ...another, 'many processors': grow, 'one processor': shrink },
  availableParallelism: number,
  networkInterfaces: {
    'other interfaces': (noted) => otherInterfaces(noted as object),
    'no interface': () => ({}),
  },
  argv: withArguments(2),
  // `fork()` of Node itself hands them on: none is what each Node takes.
  execArgv: { 'no arguments': () => [] },
  // A smaller number may be another process, which code may signal.
  pid: another,
  ppid: another,
}
const elsewhere: Ways<string> = { 'another folder': alias }
const languages = ['ar-EG', 'ja-JP', 'en-ZA']

/** Other arguments, many and none; the first ones are there in every process. */
function withArguments(fixed: number): Ways<unknown> {
  return {
    'other arguments': (noted) => [...(alter(noted) as string[]), '--altered'],
    'many arguments': (noted) => [...(noted as string[]), ...Array.from({ length: 100 }, (_, i) => `--altered${i}`)],
    'no arguments': (noted) => (noted as string[]).slice(0, fixed),
  }
}

/** More interfaces, of other names and addresses. */
function otherInterfaces(noted: object): object {
  const known = Object.entries(noted).map(([name, addresses]) => [`altered-${name}`, alter(addresses)] as const)
  const [, first = []] = known[0] ?? []
  return Object.fromEntries([...known, ...Array.from({ length: 20 }, (_, i) => [`altered${i}`, first] as const)])
}

/** Of a clock that counts from the start of the machine or of the process: much later, and just started. */
function countingFrom(start: number, perSecond: number): Ways<unknown> {
  const days = 400 * 24 * 3_600 * perSecond
  return {
    ...another,
    'much later': (noted) => (noted as number) + days,
    // As the clock goes on, so that code that waits for it comes to an end.
    'just started': (noted) => (noted as number) - start,
  }
}

/** What a process tells of itself and of its machine. */
export function probeHost(): void {
  probeProcess()
  probeMachine()
  probeClocks()
}

function probeProcess(): void {
  const functions: Readonly<Record<string, SourceKind>> = {
    memoryUsage: 'memory',
    resourceUsage: 'memory',
    availableMemory: 'memory',
    constrainedMemory: 'memory',
    getuid: 'process',
    geteuid: 'process',
    getgid: 'process',
    getegid: 'process',
  }
  for (const [name, kind] of Object.entries(functions)) {
    // `rss()` hangs on the function that is about to be replaced.
    const members = { ...(process as unknown as Record<string, object>)[name] }
    patchAnswer(process, name, { kind, name: `process.${name}()` }, kind === 'process' ? identity : amount)
    Object.assign((process as unknown as Record<string, object>)[name] ?? {}, members)
  }
  const used = process.cpuUsage()
  patchAnswer(
    process,
    'cpuUsage',
    { kind: 'clock', name: 'process.cpuUsage()' },
    {
      ...another,
      'a larger value': grow,
      'just started': (noted) => {
        const { user, system } = noted as NodeJS.CpuUsage
        return { user: user - used.user, system: system - used.system }
      },
    },
  )
  const masks: Ways<unknown> = { 'another mask': (noted) => (noted as number) ^ 0o077, 'no mask': () => 0 }
  patchAnswer(process, 'umask', { kind: 'process', name: 'process.umask()' }, masks)
  patchAnswer(process, 'getgroups', { kind: 'process', name: 'process.getgroups()' }, amount)
  const upFor = process.uptime()
  patchAnswer(process, 'uptime', { kind: 'clock', name: 'process.uptime()' }, countingFrom(upFor, 1))
  patchAnswer(process.memoryUsage, 'rss', { kind: 'memory', name: 'process.memoryUsage.rss()' }, amount)
  const { bigint } = process.hrtime
  const [startSeconds] = process.hrtime()
  const startNs = BigInt(startSeconds) * 1_000_000_000n
  const shifted = (by: number) => (noted: unknown) => {
    const [s = 0, ...rest] = noted as readonly number[]
    return [s + by, ...rest]
  }
  const hrtimes: Ways<unknown> = {
    'another value': (noted) => (noted as readonly number[]).map((one) => one + 12_345),
    'much later': shifted(400 * 24 * 3_600),
    'just started': shifted(-startSeconds),
  }
  patchAnswer(process, 'hrtime', { kind: 'clock', name: 'process.hrtime()' }, hrtimes)
  Object.defineProperty(process.hrtime, 'bigint', { value: bigint, configurable: true, writable: true })
  patchAnswer(
    process.hrtime,
    'bigint',
    { kind: 'clock', name: 'process.hrtime.bigint()' },
    {
      ...another,
      'much later': (noted) => (noted as bigint) + 34_560_000_000_000_000n,
      'just started': (noted) => (noted as bigint) - startNs,
    },
  )
  patchAnswer(process, 'cwd', { kind: 'path', name: 'process.cwd()' }, elsewhere)
  const values: Readonly<Record<string, SourceKind>> = {
    pid: 'process',
    ppid: 'process',
    title: 'process',
    argv: 'process',
    execArgv: 'process',
    platform: 'machine',
    arch: 'machine',
    version: 'machine',
    versions: 'machine',
    release: 'machine',
    config: 'machine',
  }
  for (const [name, kind] of Object.entries(values))
    patchValue(process, name, { kind, name: `process.${name}` }, machines[name] ?? another)
  patchValue(process, 'execPath', { kind: 'path', name: 'process.execPath' }, elsewhere)
  for (const name of ['executionAsyncId', 'triggerAsyncId'] as const)
    patchAnswer(asyncHooks, name, { kind: 'process', name: `async_hooks.${name}()` }, amount)
  for (const name of ['getHeapStatistics', 'getHeapSpaceStatistics'] as const)
    patchAnswer(v8, name, { kind: 'memory', name: `v8.${name}()` }, amount)
}

function probeMachine(): void {
  const functions: Readonly<Record<string, SourceKind>> = {
    hostname: 'machine',
    platform: 'machine',
    arch: 'machine',
    type: 'machine',
    release: 'machine',
    version: 'machine',
    machine: 'machine',
    endianness: 'machine',
    cpus: 'machine',
    availableParallelism: 'machine',
    networkInterfaces: 'machine',
    userInfo: 'machine',
    totalmem: 'memory',
    freemem: 'memory',
    loadavg: 'memory',
  }
  for (const [name, kind] of Object.entries(functions)) {
    const ways = machines[name] ?? (kind === 'memory' ? amount : another)
    patchAnswer(os, name, { kind, name: `os.${name}()` }, name === 'version' ? another : ways)
  }
  patchAnswer(os, 'uptime', { kind: 'clock', name: 'os.uptime()' }, countingFrom(os.uptime(), 1))
  for (const name of ['homedir', 'tmpdir'] as const)
    patchAnswer(os, name, { kind: 'path', name: `os.${name}()` }, elsewhere)
  const navigator = prototypeOf(globalThis.navigator)
  patchValue(navigator, 'hardwareConcurrency', { kind: 'machine', name: 'navigator.hardwareConcurrency' }, number)
  for (const name of ['platform', 'userAgent'])
    patchValue(navigator, name, { kind: 'machine', name: `navigator.${name}` }, another)
  const language: Ways<unknown> = Object.fromEntries(languages.map((one) => [one, () => one]))
  patchValue(navigator, 'language', { kind: 'locale', name: 'navigator.language' }, language)
  patchValue(
    navigator,
    'languages',
    { kind: 'locale', name: 'navigator.languages' },
    { 'others, and more': () => languages },
  )
}

/** Clocks that are neither `Date` nor `performance.now`. */
function probeClocks(): void {
  const clock = (target: object, key: string, name: string, ways: Ways<unknown>): void =>
    patchValue(target, key, { kind: 'clock', name }, ways)
  const { epoch, uptime } = seamState().natives
  const fromEpoch = countingFrom(epoch(), 1_000)
  const fromStart = countingFrom(uptime(), 1_000)
  clock(prototypeOf(performance), 'timeOrigin', 'performance.timeOrigin', fromEpoch)
  clock(PerformanceEntry.prototype, 'startTime', 'performance.mark().startTime', fromStart)
  clock(PerformanceEntry.prototype, 'duration', 'performance.measure().duration', amount)
  clock(Event.prototype, 'timeStamp', 'event.timeStamp', fromStart)
  clock(File.prototype, 'lastModified', 'file.lastModified', fromEpoch)
  patchAnswer(prototypeOf(performance), 'toJSON', { kind: 'clock', name: 'performance.toJSON()' }, another)
}

function prototypeOf(value: object): object {
  return Object.getPrototypeOf(value) as object
}
