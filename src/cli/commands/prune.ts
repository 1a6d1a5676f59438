import { stepsElsewhere } from '../../errors/above.ts'
import { here, printedPath } from '../../errors/here.ts'
import { neutralLine } from '../../errors/index.ts'
import { type ListedTape, type Pruned, pruneTapes } from '../../recordings/index.ts'
import { choose } from '../choose.ts'
import { pruneSpec } from '../spec/manage.ts'
import type { Command, CommandInput } from '../command.ts'
import { exit } from '../exit.ts'
import { parseSpan } from '../../report/moments.ts'
import { badValue, usage } from '../parse.ts'
import type { Screen } from '../../report/output.ts'

/** Removes the tapes of the inbox whose retention has ended. */
export const pruneCommand: Command = {
  ...pruneSpec,
  async run(given, screen) {
    const isDryRun = given.has('dry-run')
    const without = withoutEnd(given)
    const recordings = given.value('dir') ?? 'recordings'
    const pruned = await pruneTapes({ recordings, dryRun: isDryRun, ...(without && { without }) })
    if (pruned.note !== undefined) screen.note(pruned.note)
    if (given.has('json')) screen.json(asJson(pruned, isDryRun))
    else print(pruned, { isDryRun, recordings }, screen)
    return pruned.failed.length === 0 ? exit.ok : exit.usage
  },
}

function withoutEnd(given: CommandInput): Parameters<typeof pruneTapes>[0]['without'] {
  const age = given.value('older-than')
  const retention = choose(given, 'retention', ['clean', 'flagged', 'incident', 'none'], pruneCommand)
  if (age === undefined && retention === undefined) return undefined
  if (age === undefined || retention === undefined) {
    throw usage(pruneCommand, 'HARVEST_CLI_ARGUMENT', '--older-than and --retention go together', [
      'a tape whose recorder gave it no end of retention is removed only when both say so',
      `with both: --${age === undefined ? "older-than '<age>'" : "retention '<class>'"}`,
    ])
  }
  const span = parseSpan(age)
  if (span === undefined) throw badValue(pruneCommand, 'older-than', age, 'an age such as 90d or 12w')
  return { retention, startedBefore: Date.now() - span }
}

function asJson({ removed, held, needed, failed, leftovers }: Pruned, isDryRun: boolean): object {
  return {
    dryRun: isDryRun,
    removed: removed.map(({ file, retention, until }) => ({ file: here(file), class: retention, until })),
    held: held.map(({ tape, hold }) => ({ file: here(tape.file), hold: hold.reason })),
    needed: needed.map(({ tape, branches }) => ({ file: here(tape.file), branches: branches.map(here) })),
    failed: failed.map(({ tape, error }) => ({ file: here(tape.file), error: error.toJSON() })),
    leftovers: leftovers.map(here),
  }
}

function print(
  { removed, held, needed, failed, leftovers }: Pruned,
  { isDryRun, recordings }: { readonly isDryRun: boolean; readonly recordings: string },
  screen: Screen,
): void {
  for (const tape of removed)
    screen.line(`${isDryRun ? 'would remove' : 'removed'} ${printedPath(tape.file)}${why(tape)}`)
  for (const { tape, hold } of held) screen.line(`held ${printedPath(tape.file)}  ${neutralLine(hold.reason)}`)
  for (const { tape, branches } of needed)
    screen.line(`needed ${printedPath(tape.file)}  by ${neutralLine(branches.map(here).join(', '), 400)}`)
  for (const file of leftovers)
    screen.line(`${isDryRun ? 'would remove' : 'removed'} ${printedPath(file)}  left by a killed process`)
  for (const { error } of failed) screen.note(error.message)
  if (removed.length + held.length + needed.length + failed.length + leftovers.length === 0)
    screen.note(['no tape whose retention has ended', ...stepsElsewhere(recordings)].join('\n→ '))
}

function why({ retention, until, startedAt }: ListedTape): string {
  return neutralLine(
    `  ${retention ?? 'no class'}, ${until === undefined ? `started ${startedAt ?? 'at an unknown time'}` : `until ${until}`}`,
  )
}
