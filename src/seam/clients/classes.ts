import Module from 'node:module'
import { join } from 'node:path'
import { type Driver, packagesOf } from './drivers.ts'

export type Class = new (...args: never[]) => object

const className = Symbol.for('vitest-harvest/class')

/**
 * Gives objects and errors of a tape the classes again that the driver itself exports in this process: a `DatabaseError` is
 * one, a `Decimal` has its methods. What is of no such class stays data.
 */
export function restore<T>(recorded: T, { driver, classes }: Origin): T {
  walk(recorded, (name) => (classes && pick(classes, name)) ?? classNamed(name, driver), new Set())
  return recorded
}

interface Origin {
  readonly driver: Driver
  /** Classes that the client itself hands out, by name. */
  readonly classes?: Readonly<Record<string, Class>>
}

function walk(value: unknown, find: (name: string) => Class | undefined, seen: Set<object>): void {
  if (typeof value !== 'object' || value === null || seen.has(value) || ArrayBuffer.isView(value)) return
  seen.add(value)
  const name: unknown = (value as { readonly [className]?: unknown })[className]
  if (typeof name === 'string') {
    const Found = find(name)
    if (Found && Object.getPrototypeOf(value) !== Found.prototype)
      Object.setPrototypeOf(value, Found.prototype as object)
    // Decimals name their class themselves.
    if (Found && Object.hasOwn(value, 'constructor')) (value as { constructor: unknown }).constructor = Found
  }
  if (value instanceof Map) for (const entry of value) for (const one of entry) walk(one, find, seen)
  if (value instanceof Set) for (const one of value) walk(one, find, seen)
  for (const one of Object.values(value)) walk(one, find, seen)
  if (value instanceof Error) walk(value.cause, find, seen)
}

const found = new Map<string, Class>()

/** A class by its name, as a CommonJS module of the driver exports it. */
export function classNamed(name: string, driver: Driver): Class | undefined {
  const key = `${driver} ${name}`
  let known = found.get(key)
  if (!known && (known = search(name, driver))) found.set(key, known)
  return known
}

function search(name: string, driver: Driver): Class | undefined {
  const isIt = (one: unknown): one is Class => typeof one === 'function' && one.name === name && 'prototype' in one
  for (const exported of exportsOf(driver)) {
    const named = (exported as Record<string, unknown>)[name]
    const match = [named, exported, (exported as { default?: unknown }).default].find(isIt)
    if (match !== undefined) return match
  }
  return driver === 'prisma' ? esmOfPrisma().flatMap((one) => pick(one, name) ?? [])[0] : undefined
}

/** A class that is exported under another name than its own, which a bundle may have changed. */
function pick(exported: object, name: string): Class | undefined {
  const all = Object.entries(exported).filter((entry): entry is [string, Class] => typeof entry[1] === 'function')
  return (all.find(([, one]) => one.name === name) ?? all.find(([key]) => key === name))?.[1]
}

/** What the modules of a driver export that this process has loaded. */
export function exportsOf(driver: Driver, path = ''): readonly object[] {
  const { _cache: cache } = Module as unknown as {
    readonly _cache: Readonly<Record<string, { readonly exports?: unknown }>>
  }
  const folders = packagesOf(driver).map((name) => `/node_modules/${name}/`)
  return Object.entries(cache).flatMap(([file, module]) => {
    const plain = file.replaceAll('\\', '/')
    const isMeant = folders.some((folder) => plain.includes(folder)) && plain.endsWith(path)
    const { exports } = isMeant ? module : {}
    return typeof exports === 'function' || (typeof exports === 'object' && exports !== null) ? [exports] : []
  })
}

/** The runtime of a generated client is an ES module, of which `require` gives the one that is loaded. */
function esmOfPrisma(): readonly object[] {
  try {
    const load = Module.createRequire(join(process.cwd(), 'package.json'))
    const file = load.resolve('@prisma/client/runtime/client').replace(/\.js$/, '.mjs')
    return [load(file) as object]
  } catch (error) {
    // Before version 7 its runtime is CommonJS. Elsewhere the option `classes` says what there is.
    if (['MODULE_NOT_FOUND', 'ERR_PACKAGE_PATH_NOT_EXPORTED'].includes((error as NodeJS.ErrnoException).code ?? ''))
      return []
    throw error
  }
}
