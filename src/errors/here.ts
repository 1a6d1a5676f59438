import { isAbsolute, relative, resolve, sep } from 'node:path'
import { neutralLine } from './neutral.ts'

/** A path as people and programs are shown it: from the current folder, and absolute where it lies outside of it. */
export function here(file: string): string {
  // Thousands of files of a list are seen from here already.
  const near = isSeenFromHere(file) ? file : relative('.', file)
  if (near === '') return '.'
  return near === '..' || near.startsWith(`..${sep}`) || isAbsolute(near) ? resolve(file) : near
}

/** Whether it is a path down from here, as `relative` would write it. */
export function isSeenFromHere(file: string): boolean {
  return sep === '/' && seenFromHere.test(file)
}

const seenFromHere = /^(?:(?!\.{1,2}\/)[^/]+\/)*(?!\.{1,2}$)[^/]+$/

/** The same, safe to print, whole. */
export function printedPath(file: string): string {
  return neutralLine(here(file), Infinity)
}
