import { existsSync, readdirSync } from 'node:fs'
import { createRequire, syncBuiltinESMExports } from 'node:module'

// Calls that change the disk.
const changing = [
  'openSync',
  'writeSync',
  'fsyncSync',
  'closeSync',
  'linkSync',
  'renameSync',
  'mkdirSync',
  'fchmodSync',
  'rmSync',
] as const
/** What every module calls, once `syncBuiltinESMExports` has been told. */
export const fs = createRequire(import.meta.url)('node:fs') as Record<string, (...args: unknown[]) => unknown>
export const originals = new Map(changing.map((name) => [name, fs[name] as (...args: unknown[]) => unknown]))

/** `before`: the call fails. `after`: it is made, and fails. `for good`: so does every call after it, as in a process that was killed. */
export type Failure = 'before' | 'after' | 'for good'

/** Lets the n-th changing call fail; tells how many calls there were. */
export function failingAt(
  n: number,
  failure: Failure,
  run: () => unknown,
): { readonly calls: number; readonly error?: unknown } {
  let calls = 0
  for (const [name, original] of originals) {
    fs[name] = (...args) => {
      // Cleaning up works, unless nothing does any more.
      if (name === 'rmSync' && (failure !== 'for good' || calls < n)) return original(...args)
      calls++
      if (calls < n || (calls > n && failure !== 'for good')) return original(...args)
      if (failure === 'after') original(...args)
      throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' })
    }
  }
  syncBuiltinESMExports()
  try {
    run()
    return { calls }
  } catch (error) {
    return { error, calls }
  } finally {
    restoreDisk()
  }
}

/** Makes the disk work again. */
export function restoreDisk(): void {
  for (const [name, original] of originals) fs[name] = original
  syncBuiltinESMExports()
}

/** Names in a folder, without temporary files when a killed process may have left them. */
export function namesIn(folder: string, failure: Failure): readonly string[] {
  const names = existsSync(folder) ? readdirSync(folder) : []
  return failure === 'for good' ? names.filter((name) => !name.endsWith('.tmp')) : names
}
