import { resolve } from 'node:path'

export function findTapeFile(word: string): string {
  return resolve(word)
}
