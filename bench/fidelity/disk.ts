import { globSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { edited } from './agents.ts'

const base64 = /[\w+/-]{40,}={0,2}/g

/** All text below a folder, base64 decoded as well. */
export function textIn(folder: string): string {
  const texts = filesIn(folder).map((file) => readFileSync(file, 'utf8'))
  return texts.flatMap((text) => [text, ...Array.from(text.matchAll(base64), ([blob]) => decode(blob))]).join('\n')
}

/** Falsifies the recorded answer wherever it stands, as somebody would in an editor. */
export function falsify(folder: string): void {
  let found = 0
  for (const file of filesIn(folder)) {
    const text = readFileSync(file, 'utf8')
    const changed = text.replaceAll(edited.original, edited.falsified).replace(base64, (blob) => {
      const plain = decode(blob)
      if (!plain.includes(edited.original)) return blob
      return Buffer.from(plain.replaceAll(edited.original, edited.falsified), 'utf8').toString('base64')
    })
    if (changed === text) continue
    found++
    writeFileSync(file, changed)
  }
  // A falsification that finds nothing would let a recorder pass that looked at nothing.
  if (found === 0) throw new Error(`no recorded answer to falsify in ${folder}`)
}

function filesIn(folder: string): readonly string[] {
  return globSync('**', { cwd: folder })
    .map((file) => join(folder, file))
    .filter((file) => statSync(file).isFile())
}

function decode(blob: string): string {
  return Buffer.from(blob, 'base64').toString('utf8')
}
