import { neutralLine } from '../../errors/index.ts'
import { counted } from '../../errors/words.ts'
import type { Review } from '../../review/index.ts'
import { size } from '../../report/describe.ts'
import type { Screen } from '../../report/output.ts'
import { allowedSecrets, sizeOf } from '../check-options.ts'
import type { Command } from '../command.ts'
import { exit } from '../exit.ts'
import { usage } from '../parse.ts'
import { reviewSpec } from '../spec/test.ts'

/** Says what a branch does to recordings. Reads commits, runs nothing. */
export const reviewCommand: Command = {
  ...reviewSpec,
  async run(given, screen) {
    const [range = ''] = given.args
    if (given.has('markdown') && given.has('json'))
      throw usage(reviewCommand, 'HARVEST_CLI_ARGUMENT', '--markdown and --json exclude each other')
    const [maxSize, dir] = [sizeOf(given, reviewCommand), given.value('dir')]
    const allow = await allowedSecrets(given, reviewCommand)
    const { acceptedText, reviewMarkdown, reviewRange } = await import('../../review/index.ts')
    const review = await reviewRange(range, {
      allow,
      ...(maxSize === undefined ? {} : { maxSize }),
      ...(dir === undefined ? {} : { dir }),
    })
    if (given.has('json')) screen.json(review)
    else if (given.has('markdown')) screen.line(reviewMarkdown(review).trimEnd())
    else print(review, acceptedText, screen)
    const isClean =
      review.cases.every(({ weakened }) => weakened.length === 0) &&
      review.findings.every(({ level }) => level === 'warning')
    return isClean ? exit.ok : exit.divergence
  },
}

function print(
  { cases, tapes, findings, configs, acceptedForAll, grownBytes }: Review,
  acceptedText: (accepted: number | undefined) => string,
  screen: Screen,
): void {
  for (const { file, change, bytes, digest, sameAs } of tapes) {
    screen.line(`${screen.paint('bold', neutralLine(file, 400))}  ${change}, ${size(bytes)}`)
    for (const [label, text] of Object.entries(digest ?? {})) screen.line(`  ${label.padEnd(6)}  ${text}`)
    for (const other of sameAs) screen.line(`  ${screen.paint('red', 'same as')} ${neutralLine(other, 400)}`)
  }
  if (tapes.length > 0) screen.line()
  for (const { id, file, change, weakened, approved, accepted } of cases) {
    const by =
      approved === undefined
        ? ''
        : `, approved${approved.by === undefined ? '' : ` by ${neutralLine(approved.by, 60)}`}`
    const asked = accepted === 0 ? '' : `, ${counted(accepted, 'changed question')} accepted`
    screen.line(`${screen.paint('bold', neutralLine(id, 120))}  ${change}${by}${asked}`)
    for (const { field, what, line } of weakened)
      screen.line(
        `  ${screen.paint('red', 'weaker')}  ${neutralLine(`${field}: ${what}`, 300)}${line === undefined ? '' : `  ${neutralLine(file, 200)}:${line}`}`,
      )
  }
  for (const { level, file, line, what, detail } of findings) {
    screen.line(
      `${neutralLine(line === undefined ? file : `${file}:${line}`, 400)}  ${level === 'warning' ? 'warning: ' : ''}${neutralLine(what, 300)}`,
    )
    for (const more of detail) screen.line(`  ${neutralLine(more, 300)}`)
  }
  for (const file of configs) screen.line(`${neutralLine(file, 400)}  changed: it may set policies for all cases`)
  for (const { file, accepted } of acceptedForAll)
    screen.line(`${neutralLine(file, 400)}  accepts ${acceptedText(accepted)} for all cases`)
  if (cases.length + findings.length + configs.length + acceptedForAll.length > 0) screen.line()
  const weaker = cases.reduce((sum, { weakened }) => sum + weakened.length, 0)
  const errors = findings.filter(({ level }) => level === 'error').length
  screen.line(
    `${counted(cases.length, 'case')}, ${counted(tapes.length, 'tape')}, ${grownBytes < 0 ? '-' : '+'}${size(Math.abs(grownBytes))}: ` +
      `${weaker === 0 ? 'nothing is asserted less' : `${counted(weaker, 'assertion')} weaker`}, ${errors === 0 ? 'nothing to fix' : `${counted(errors, 'issue')} to fix`}`,
  )
}
