import { lstatSync, readFileSync } from 'node:fs'
import { createRedactor, printKeys, Prints, redactorOfTape, rulesOfTape } from '../privacy/index.ts'
import { trackedFiles } from '../provenance/index.ts'
import { readTape } from '../tape/index.ts'

/** Bytes of a file beyond which it is no source that people write. */
const largest = 1_000_000

/**
 * Values that the tape has placeholders for and that stand in a file under version control: who reads the repository
 * reads them, so a case may name them, and they are compared where there is no key. Needs the key of the tape's fingerprints;
 * without it nothing is known.
 *
 * @returns value by placeholder
 * @throws HarvestError `HARVEST_GIT_UNREADABLE`; HARVEST_TAPE_… when the tape cannot be read
 */
export async function pinnedConstants(
  tapeFile: string,
  cwd = process.cwd(),
): Promise<Readonly<Record<string, string>>> {
  const keys = printKeys()
  if (keys.length === 0) return {}
  const tape = readTape(tapeFile)
  const { header, events, close } = tape
  const key = keys.find(({ id }) => id === header.printed?.key)
  if (key === undefined || header.printed === undefined) return {}
  const all = [header, ...events, ...(close ? [close] : [])].flatMap(({ prints = [] }) => prints)
  const placeholders = new Map(all.map(([placeholder, print]) => [print, placeholder]))
  const prints = new Prints(key, header.printed.salt)
  const finder = createRedactor(rulesOfTape(tape))
  const found: Record<string, string> = {}
  for (const file of await trackedFiles(cwd)) {
    const text = sourceText(file)
    if (text === undefined) continue
    for (const { index, length } of finder.scan(text)) {
      const value = text.slice(index, index + length)
      const redactor = redactorOfTape(tape, { prints })
      redactor.text(value)
      for (const { print = '' } of redactor.takeReplaced()) {
        const placeholder = placeholders.get(print)
        if (placeholder !== undefined) found[placeholder] ??= value
      }
    }
  }
  return found
}

/** What a tracked file says; nothing for tapes, which have placeholders alone, and for what is no text. */
function sourceText(file: string): string | undefined {
  if (file.endsWith('.tape.jsonl')) return undefined
  const stats = lstatSync(file, { throwIfNoEntry: false })
  if (stats?.isFile() !== true || stats.size > largest) return undefined
  const bytes = readFileSync(file)
  return bytes.includes(0) ? undefined : bytes.toString('utf8')
}
