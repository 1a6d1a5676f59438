import { readFileSync } from 'node:fs'
import path from 'node:path'
import { nameMocksBy } from '../replay/index.ts'
import type { Mocked } from '../seam/intercept/index.ts'
import { ownFolderPath } from '../own-files.ts'
import { toPosix } from './posix.ts'

/** How set-up files replace what a replay stands on. */
const ways: Readonly<Record<Mocked, RegExp>> = {
  fetch:
    /stubGlobal\(\s*['"`]fetch|(?:globalThis|global|window)(?:\.fetch|\[['"`]fetch['"`]\])\s*=(?!=)|spyOn\(\s*(?:globalThis|global|window)\s*,\s*['"`]fetch|\.listen\(|\bnock\(|enableFetchMocks|fetchMock/,
  sockets: /\.listen\(|\bnock\b/,
  timers: /useFakeTimers\(|FakeTimers/,
}

/** From now on, messages about a mock name the line of the set-up file that put it up. */
export function nameSetUpFiles(): void {
  nameMocksBy(findInSetUpFiles)
}

function findInSetUpFiles(what: Mocked): string | undefined {
  const files = setUpFiles()
  for (const file of files) {
    const line = textOf(file)
      .split('\n')
      .findIndex((text) => ways[what].test(text) && !/^\s*(?:\/\/|\*|import\b)/.test(text))
    if (line >= 0) return `${fromHere(file)}:${line + 1}`
  }
  return undefined
}

/** The set-up files of the project this worker runs; ours are not meant. */
function setUpFiles(): readonly string[] {
  const { __vitest_worker__: worker } = globalThis as {
    readonly __vitest_worker__?: { readonly config?: { readonly setupFiles?: unknown } }
  }
  const files = worker?.config?.setupFiles
  return Array.isArray(files) ? files.filter((file) => typeof file === 'string' && !isOurs(file)) : []
}

function isOurs(file: string): boolean {
  return path.resolve(file).startsWith(ownFolderPath)
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    // A virtual module, or a file that is gone: then the message names no place.
    return ''
  }
}

function fromHere(file: string): string {
  const relative = path.relative(process.cwd(), file)
  return relative.startsWith('..') ? file : toPosix(relative)
}
