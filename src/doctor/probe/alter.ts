import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { isUtf8 } from 'node:buffer'
import { tmpdir } from 'node:os'
import { basename, dirname, join, sep } from 'node:path'
import { seamState } from '../../seam/source.ts'
import { isMap } from '../../json/canonical.ts'
import { unwatched } from './probe.ts'

/** Another value of the same kind: no text, number or truth in it is what it was, and no list is as long. */
export function alter<T>(value: T): T {
  return altered(value) as T
}

function altered(value: unknown): unknown {
  switch (typeof value) {
    case 'number':
      return Number.isInteger(value) ? value + 12_345 : value * 1.37 + 12_345.25
    case 'bigint':
      return value + 12_345_678_912_345n
    case 'string':
      return alterWord(value)
    case 'boolean':
      return !value
    default:
      break
  }
  if (value instanceof Uint8Array) return Buffer.from(value.map((byte) => byte ^ 0x15))
  if (Array.isArray(value)) return [...value, ...value.slice(-1)].map(altered)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, altered(one)]))
}

/** Neither its beginning nor its end is what it was, and it has more parts between dots and dashes. */
function alterWord(value: string): string {
  return `altered.${value}-altered`
}

/** The same with numbers above, and lists longer than, any limit that is usual. */
export function grow(value: unknown): unknown {
  if (typeof value === 'number') return value * 841 + 12_345_679
  if (Array.isArray(value)) return [...value, ...Array.from({ length: 100 }, () => value.at(-1))].map(grow)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, grow(one)]))
}

/** The same with numbers below any limit that is usual, and short lists. */
export function shrink(value: unknown): unknown {
  if (typeof value === 'number') return value > 1 ? 1 : Math.floor(value)
  if (Array.isArray(value)) return value.slice(0, 1).map(shrink)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, shrink(one)]))
}

/** A later version or an earlier one, or those of several by name: still numbers between dots. */
export function alterVersion(value: unknown, by: 1 | -1): unknown {
  if (typeof value === 'string') return value.replaceAll(/\d+/g, (number) => String(Math.max(0, Number(number) + by)))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, alterVersion(one, by)]))
}

/** Another value of a setting: another host for an address, another number for a number, the same place for a path. */
export function alterSetting(value: string): string {
  if (/^(?:true|false)$/i.test(value)) return value.toLowerCase() === 'true' ? 'false' : 'true'
  if (/^(?:0|1)$/.test(value)) return value === '0' ? '1' : '0'
  if (/^-?\d+(?:\.\d+)?$/.test(value)) return String(Number(value) + 1)
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(value) && URL.canParse(value)) {
    const url = new URL(value)
    url.hostname = 'altered.invalid'
    return value.endsWith('/') ? url.href : url.href.replace(/\/$/, '')
  }
  return isFile(value) ? alias(value) : alterWord(value)
}

function isFile(path: string): boolean {
  return /^(?:\/|[A-Za-z]:[\\/])/.test(path) && unwatched(() => statSync(path, { throwIfNoEntry: false })) !== undefined
}

/** Text in which every digit is another and every line longer, below one line more; JSON stays JSON. */
export function alterText(text: string): string {
  try {
    const other = altered(JSON.parse(text))
    const longer = isMap(other) ? { altered: 12_345, ...other } : other
    return JSON.stringify(longer, undefined, text.includes('\n') ? 2 : undefined)
  } catch {
    // Any other text: line by line.
  }
  const lines = text
    .split('\n')
    .map((line) =>
      line.trim() === '' ? line : `${line.replaceAll(/\d/g, (digit) => `${(Number(digit) + 1) % 10}`)} altered`,
    )
  // Most formats of settings take it as one more of them.
  return ['altered: 12345', ...lines].join('\n')
}

/** Files above it are neither kept nor altered: agents that read such read them for their bulk. */
const fileLimit = 8 * 1024 * 1024

/** A copy of a file as it is now; the path itself when there is nothing to copy. */
export function snapshot(path: string): string {
  return unwatched(() => {
    const stats = statSync(path, { throwIfNoEntry: false })
    if (!stats?.isFile() || stats.size > fileLimit) return path
    const copy = join(freshFolder(), basename(path))
    try {
      copyFileSync(path, copy)
    } catch {
      // Not readable for us: the agent gets the same error from the file itself.
      return path
    }
    return copy
  })
}

/** A copy of a file with other content. */
export function alteredCopy(path: string): string {
  return unwatched(() => {
    const stats = statSync(path, { throwIfNoEntry: false })
    if (!stats?.isFile() || stats.size > fileLimit) return path
    const bytes = readFileSync(path)
    const copy = join(freshFolder(), basename(path))
    const content = isUtf8(bytes) ? alterText(bytes.toString('utf8')) : Buffer.concat([bytes, Buffer.from([0])])
    writeFileSync(copy, content)
    return copy
  })
}

/** A file of this name, for one that is not there: text, a number and JSON. */
export function standIn(path: string): string {
  return unwatched(() => {
    const file = join(freshFolder(), basename(path))
    writeFileSync(file, '12345\n')
    return file
  })
}

/**
 * Another path to the same file or folder: what lies in it is found there, too. No folder of it is called as before, and
 * there are more of them. A file keeps its name, which says what it is: a program is on a tape by its name.
 */
export function alias(path: string): string {
  return unwatched(() => {
    const isFile = statSync(path, { throwIfNoEntry: false })?.isFile() === true
    if (isFile) return join(alias(dirname(path)), basename(path))
    const above = Array.from({ length: path.split(sep).length }, () => 'd')
    const folder = join(freshFolder(), ...above)
    mkdirSync(folder, { recursive: true })
    const link = join(folder, 'elsewhere')
    symlinkSync(path, link, 'junction')
    return link
  })
}

interface Scratch {
  folder?: string
  count: number
}

function scratch(): Scratch {
  const { shared } = seamState()
  let known = shared.get('probe scratch') as Scratch | undefined
  if (!known) shared.set('probe scratch', (known = { count: 0 }))
  return known
}

function freshFolder(): string {
  const state = scratch()
  state.folder ??= mkdtempSync(join(tmpdir(), 'harvest-probe-'))
  const folder = join(state.folder, String(++state.count))
  mkdirSync(folder)
  return folder
}

/** Deletes every copy and alias. */
export function sweep(): void {
  const state = scratch()
  unwatched(() => {
    if (state.folder !== undefined) rmSync(state.folder, { recursive: true, force: true })
  })
  delete state.folder
}
