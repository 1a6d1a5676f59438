import { join } from 'node:path'
import type { Json } from '../tape/index.ts'
import { keepIfPossible, makeKeptFolder, writeKeptFile } from '../tape/kept-files.ts'
import { readKeptText } from '../tape/links.ts'
import { forksFolder, forksPlace } from './kept-forks.ts'

/** What a command that was paid for answered about a tape, so that a report shows it without asking again. */
export interface KeptAnswerOf {
  /** Digest of the tape it is about. */
  readonly digest: string
  /** ISO 8601. */
  readonly at: string
  /** Answers of one key replace each other. */
  readonly key: string
  readonly answer: Json
}

/** Answers that are kept of one command. */
const most = 8

/** Keeps what `blame` or `fork` answered, beside the forks it rests on, where that can be written. The newest come first. */
export function keepAnswer(recordings: string, tapeFile: string, command: 'blame' | 'fork', kept: KeptAnswerOf): void {
  const folder = forksFolder(recordings, tapeFile)
  const file = join(folder, `${command}.json`)
  const others = readAnswers(recordings, tapeFile, command, kept.digest).filter(({ key }) => key !== kept.key)
  keepIfPossible(file, () => {
    makeKeptFolder(folder)
    writeKeptFile(file, `${JSON.stringify([kept, ...others].slice(0, most))}\n`)
  })
}

/** What was kept of a tape that is still the same; answers about another one of its name are left out. */
export function readAnswers(
  recordings: string,
  tapeFile: string,
  command: 'blame' | 'fork',
  digest: string,
): readonly KeptAnswerOf[] {
  const text = readKeptText(join(forksPlace(recordings, tapeFile), `${command}.json`))
  if (text === undefined) return []
  try {
    return (JSON.parse(text) as readonly KeptAnswerOf[]).filter((one) => one.digest === digest)
  } catch {
    // A file that was cut or edited: the command can be asked again, and counts its cached forks.
    return []
  }
}
