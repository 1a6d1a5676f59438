import { join } from 'node:path'
import { redactorOfTape } from '../privacy/index.ts'
import type { Json, Tape } from '../tape/index.ts'
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

/**
 * Keeps what `blame` or `fork` answered of a tape, beside the forks it rests on, where that can be written. The newest come first.
 * What was typed may be secret: it is redacted by the rules of the tape.
 */
export function keepAnswer(
  recordings: string,
  tape: Tape,
  command: 'blame' | 'fork',
  { at, key, answer }: Omit<KeptAnswerOf, 'digest'>,
): void {
  const folder = forksFolder(recordings, tape.source)
  const file = join(folder, `${command}.json`)
  const redactor = redactorOfTape(tape, { keys: 'unnumbered' })
  const kept: KeptAnswerOf = { digest: tape.digest, at, key: redactor.text(key), answer: redactor.json(answer) }
  const others = readAnswers(recordings, tape.source, command, kept.digest).filter((one) => one.key !== kept.key)
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
