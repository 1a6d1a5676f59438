import { neutral, neutralLine } from '../../errors/index.ts'
import { grouped } from '../../errors/words.ts'
import type { CodePlace } from './sources.ts'
import type { CodeStop, NoStop } from './session.ts'

/** Columns of the line of variables. */
const width = 98

/** Where the agent stands: file and function, the lines around, its variables. */
export function codeLines(stop: CodeStop): readonly string[] {
  const { place, in: name, callers, source, isChanged, port, step, inside, since, skipped, differs, unwatched } = stop
  const [caller] = callers
  const by = caller === undefined ? '' : `, called by ${caller.in} ${shortPlace(caller)}`
  return [
    neutralLine(`${place.file}:${place.line} in ${name}${by}`, 160),
    ...sourceLines(source, place.line),
    ...localLines(stop),
    ...(inside === undefined
      ? []
      : [`step ${step} was made inside step ${inside}: its code is not run again, and this is where it is answered`]),
    ...(skipped === undefined
      ? []
      : [`not exact: this is step ${step}, and the ${skipped} behind it were not replayed; code full goes there`]),
    ...(since === undefined ? [] : [`no statement of yours ran until ${listed(since)} answered too`]),
    ...(differs === undefined
      ? []
      : [`step ${differs.step} asked otherwise than on the tape: ${neutralLine(differs.part, 60)}`]),
    ...unwatchedLines(unwatched),
    ...(isChanged ? ['the file was changed since it was loaded: this is what runs'] : []),
    ...(port === undefined ? [] : [`an editor may attach: ${port}`]),
  ]
}

/** Lines of code with their numbers; the arrow is where it stands. */
export function sourceLines(source: CodeStop['source'], at: number): readonly string[] {
  const digits = Math.max(2, ...source.map(([line]) => `${line}`.length))
  return source.map(([line, text]) =>
    `${line === at ? '→' : ' '} ${`${line}`.padStart(digits)}  ${neutral(text.replaceAll('\t', '  '))}`.trimEnd(),
  )
}

/** `messages = Array(7)   response = Response`. */
export function localLines({ locals }: CodeStop, isWhole = false): readonly string[] {
  if (isWhole)
    return locals.length === 0
      ? ['no variables here']
      : locals.map(({ name, text }) => `  ${name} = ${neutralLine(text, width)}`)
  const lines: string[] = []
  for (const { name, text } of locals) {
    const word = `${name} = ${neutralLine(text, 40)}`
    const last = lines.at(-1)
    if (last !== undefined && last.length + word.length + 3 <= width) lines[lines.length - 1] = `${last}   ${word}`
    else lines.push(`  ${word}`)
  }
  return lines
}

/** Why no code stands still. */
export function noStopLines(stop: NoStop): readonly string[] {
  return [...whyLines(stop), ...unwatchedLines(stop.unwatched)]
}

function unwatchedLines(unwatched: CodeStop['unwatched']): readonly string[] {
  if (unwatched === undefined) return []
  return [
    `only ${grouped(unwatched.watched)} places of your code were watched, and it has more: others may have run before`,
  ]
}

function whyLines({ why, problems, step, moves }: NoStop): readonly string[] {
  if (why === 'unasked') return [`this replay does not ask for step ${step}`]
  if (problems.length === 0)
    return [
      moves === undefined
        ? `the run ended: no statement of yours ran after the answer of step ${step}`
        : `the run ended: ${moves.at(-1) === 'finish' ? 'no caller of yours went on' : 'no other statement of yours ran'} after this one`,
    ]
  return [
    `the replay ended before it stood still, for it differs from the tape`,
    ...problems.map((text) => `  ${neutralLine(text, 96)}`),
  ]
}

/** `step 3 was`, `steps 3 to 5 were`. */
function listed(steps: readonly number[]): string {
  const [first, last] = [steps[0], steps.at(-1)]
  return steps.length === 1 ? `step ${first} was` : `steps ${first} to ${last} were`
}

function shortPlace({ file, line }: CodePlace): string {
  return `${file.split(/[\\/]/).at(-1) ?? file}:${line}`
}
