import { execFileSync } from 'node:child_process'
import { expect } from 'vitest'
import { shellWords } from '../../src/errors/words.ts'

/**
 * The words of the command that a message proposes about this, without the name of the program: as our parser and a shell
 * read them.
 *
 * @param known - what only people know, by what stands for it: `<right>`
 */
export function printed(text: string, about: string, known: Readonly<Record<string, string>> = {}): readonly string[] {
  const line = text.split('\n').find((one) => one.includes(`→ ${about}`)) ?? ''
  const open = line.slice(line.indexOf('npx '))
  const command = Object.entries(known).reduce((filled, [what, value]) => filled.replace(what, value), open)
  const { words } = shellWords(command)
  const heard = execFileSync('bash', ['-c', `printf '%s\\0' ${command}`], { encoding: 'utf8' })
  expect(heard.split('\0').slice(0, -1), text).toEqual(words)
  return words.slice(2)
}
