import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { changedPaths, keepCode, keptCode } from '../../blame/fork-cache.ts'
import { neutralLine } from '../../errors/index.ts'
import { counted, firstNames } from '../../errors/words.ts'
import type { MadeAnew, UncomparedHeaders } from '../../fork/index.ts'
import type { CodeFiles } from '../../provenance/index.ts'
import { keepIfPossible, writeKeptFile } from '../../tape/kept-files.ts'
import { readKeptText } from '../../tape/links.ts'
import { version } from '../../version.ts'

interface Names {
  readonly asked: string
  readonly key: string
}

interface Code {
  readonly digest: string
  readonly files: CodeFiles
}

/** Other code that made forks that are kept, by this version: of each fork that is not kept for today's. `undefined`: none did. */
export function otherMakers(
  folder: string,
  names: readonly (Names | undefined)[],
  { digest }: Code,
): readonly (string | undefined)[] {
  return names.map((one) => {
    if (one === undefined || existsSync(join(folder, `${one.key}.json`))) return undefined
    const maker = makerOf(folder, one.asked)
    return maker?.version === version && maker.code !== digest ? maker.code : undefined
  })
}

/** What of other code is not as it was; code whose files were not kept is left out. */
export function changesSince(
  folder: string,
  codes: readonly (string | undefined)[],
  { files }: Code,
): ReadonlyMap<string, readonly string[]> {
  const known = [...new Set(codes)].flatMap((code) => {
    const then = code === undefined ? undefined : keptCode(folder, code)
    return code === undefined || then === undefined ? [] : [[code, changedPaths(then, files)] as const]
  })
  return new Map(known)
}

/** Which code made a fork, and which version of this package. */
interface Maker {
  readonly code: string
  readonly version: string
}

/** Forks that were made before by other code; `undefined` without one. */
export function madeByOther(
  folder: string,
  names: readonly (Names | undefined)[],
  { digest, files }: Code,
): MadeAnew | undefined {
  const makers = names.flatMap((one) => {
    if (one === undefined || existsSync(join(folder, `${one.key}.json`))) return []
    const maker = makerOf(folder, one.asked)
    return maker === undefined || (maker.code === digest && maker.version === version) ? [] : [maker]
  })
  const [maker] = makers
  if (maker === undefined) return undefined
  if (maker.code === digest)
    return { forks: makers.length, because: `made by version ${neutralLine(maker.version, 40)}` }
  const then = keptCode(folder, maker.code)
  const changed = then === undefined ? undefined : changedPaths(then, files)
  const because =
    changed === undefined ? 'made by other code' : `changed since: ${neutralLine(firstNames(changed), 300)}`
  return { forks: makers.length, because }
}

/** Remembers which code made the forks that are kept. */
export function noteMade(folder: string, names: readonly (Names | undefined)[], { digest, files }: Code): void {
  const kept = names.filter((one) => one !== undefined && existsSync(join(folder, `${one.key}.json`)))
  if (kept.length === 0) return
  const maker: Maker = { code: digest, version }
  keepIfPossible(`${folder}/`, () => {
    keepCode(folder, digest, files)
    for (const one of kept) writeKeptFile(makerFile(folder, one!.asked), JSON.stringify(maker))
  })
}

function makerOf(folder: string, asked: string): Maker | undefined {
  try {
    return JSON.parse(readKeptText(makerFile(folder, asked)) ?? '') as Maker
  } catch {
    // It was never written, or a session that was killed left half of it.
    return undefined
  }
}

function makerFile(folder: string, asked: string): string {
  return join(folder, `maker-${asked}`)
}

/** Says which headers of forks that were made before may be other ones today. */
export function notComparedText({ unkept, varying }: UncomparedHeaders): string {
  const named = (names: readonly string[], why: string): readonly string[] =>
    names.length === 0 ? [] : [`${neutralLine(firstNames(names), 300)} (${why})`]
  const all = [...named(unkept, 'nothing of their values is kept'), ...named(varying, 'another value in each replay')]
  return `In forks of earlier sessions, these headers were not compared with those of today: ${all.join(', ')}.`
}

/** Says that forks are made again, and why. */
export function anewText({ forks, because }: MadeAnew): string {
  return `${counted(forks, 'kept fork')} made again: ${because}`
}
