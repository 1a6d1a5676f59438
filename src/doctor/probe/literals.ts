import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { unwatched } from './probe.ts'

/** Each is one more replay. */
const most = 8
/** A longer text is a sentence. */
const longest = 40

const files = new Map<string, readonly string[]>()

/**
 * The short texts that the code around a place spells out, the nearest first. What a value is compared with is no call that a
 * probe could hear; mostly it stands beside the place that reads it.
 */
export function textsNear(site: string): readonly string[] {
  const [, file = '', line = '1'] = /^(.*?):(\d+):\d+$/.exec(site) ?? []
  const at = Number(line) - 1
  const found = linesOf(file).flatMap((text, number) =>
    // What is imported is compared with nothing.
    /^\s*(?:import|export)\b.*\bfrom\b|\brequire\(|\bimport\(/.test(text)
      ? []
      : textsIn(text).map((word) => ({ word, distance: Math.abs(number - at) })),
  )
  return [...new Set(found.sort((a, b) => a.distance - b.distance).map(({ word }) => word))].slice(0, most)
}

function textsIn(line: string): readonly string[] {
  const words = [...line.matchAll(/(['"`])((?:(?!\1)[^\\$])+)\1/g)].map(([, , word = '']) => word)
  return words.filter((word) => word.length <= longest)
}

function linesOf(file: string): readonly string[] {
  let lines = files.get(file)
  if (lines === undefined) {
    lines = read(file).split('\n')
    files.set(file, lines)
  }
  return lines
}

function read(file: string): string {
  try {
    return unwatched(() => readFileSync(resolve(file), 'utf8'))
  } catch {
    // Code that is no file here, such as a module that was made up: then it has no texts to try.
    return ''
  }
}
