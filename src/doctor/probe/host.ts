import os from 'node:os'
import v8 from 'node:v8'
import asyncHooks from 'node:async_hooks'
import { alias, alter, alterVersion, shrink } from './alter.ts'
import { patchAnswer, patchValue } from './patching.ts'
import type { SourceKind, Ways } from './probe.ts'

const another: Ways<unknown> = { 'another value': alter }
/** Some code asks only whether it is much, or only whether it is little. */
const amount: Ways<unknown> = { ...another, 'a smaller value': shrink }
const machines: Readonly<Record<string, Ways<unknown>>> = {
  platform: { 'another system': (noted) => (noted === 'win32' ? 'linux' : 'win32') },
  type: { 'another system': (noted) => (noted === 'Windows_NT' ? 'Linux' : 'Windows_NT') },
  arch: { 'another processor': (noted) => (noted === 'arm64' ? 'x64' : 'arm64') },
  version: { 'another version': alterVersion },
  versions: { 'another version': alterVersion },
  release: { 'another version': alterVersion },
  cpus: amount,
  availableParallelism: amount,
}
const elsewhere: Ways<string> = { 'another folder': alias }

/** What a process tells of itself and of its machine. */
export function probeHost(): void {
  probeProcess()
  probeMachine()
  probeClocks()
}

function probeProcess(): void {
  const functions: Readonly<Record<string, SourceKind>> = {
    uptime: 'clock',
    cpuUsage: 'clock',
    memoryUsage: 'memory',
    resourceUsage: 'memory',
    availableMemory: 'memory',
    constrainedMemory: 'memory',
    getuid: 'process',
    geteuid: 'process',
    getgid: 'process',
    getegid: 'process',
    getgroups: 'process',
  }
  for (const [name, kind] of Object.entries(functions)) {
    // `rss()` hangs on the function that is about to be replaced.
    const members = { ...(process as unknown as Record<string, object>)[name] }
    patchAnswer(process, name, { kind, name: `process.${name}()` }, kind === 'memory' ? amount : another)
    Object.assign((process as unknown as Record<string, object>)[name] ?? {}, members)
  }
  patchAnswer(process.memoryUsage, 'rss', { kind: 'memory', name: 'process.memoryUsage.rss()' }, amount)
  const { bigint } = process.hrtime
  patchAnswer(process, 'hrtime', { kind: 'clock', name: 'process.hrtime()' }, another)
  Object.defineProperty(process.hrtime, 'bigint', { value: bigint, configurable: true, writable: true })
  patchAnswer(process.hrtime, 'bigint', { kind: 'clock', name: 'process.hrtime.bigint()' }, another)
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
    patchAnswer(asyncHooks, name, { kind: 'process', name: `async_hooks.${name}()` }, another)
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
    uptime: 'clock',
  }
  for (const [name, kind] of Object.entries(functions)) {
    const ways = machines[name] ?? (kind === 'memory' ? amount : another)
    patchAnswer(os, name, { kind, name: `os.${name}()` }, name === 'version' ? another : ways)
  }
  for (const name of ['homedir', 'tmpdir'] as const)
    patchAnswer(os, name, { kind: 'path', name: `os.${name}()` }, elsewhere)
  const navigator = prototypeOf(globalThis.navigator)
  patchValue(navigator, 'hardwareConcurrency', { kind: 'machine', name: 'navigator.hardwareConcurrency' }, amount)
  for (const name of ['platform', 'userAgent'])
    patchValue(navigator, name, { kind: 'machine', name: `navigator.${name}` }, another)
  for (const name of ['language', 'languages']) {
    patchValue(navigator, name, { kind: 'locale', name: `navigator.${name}` }, another)
  }
}

/** Clocks that are neither `Date` nor `performance.now`. */
function probeClocks(): void {
  const clock = (target: object, key: string, name: string): void =>
    patchValue(target, key, { kind: 'clock', name }, another)
  clock(prototypeOf(performance), 'timeOrigin', 'performance.timeOrigin')
  clock(PerformanceEntry.prototype, 'startTime', 'performance.mark().startTime')
  clock(PerformanceEntry.prototype, 'duration', 'performance.measure().duration')
  clock(Event.prototype, 'timeStamp', 'event.timeStamp')
  clock(File.prototype, 'lastModified', 'file.lastModified')
  patchAnswer(prototypeOf(performance), 'toJSON', { kind: 'clock', name: 'performance.toJSON()' }, another)
}

function prototypeOf(value: object): object {
  return Object.getPrototypeOf(value) as object
}
