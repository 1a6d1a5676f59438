import { neutralLine } from '../../errors/index.ts'
import type { CheckFinding } from '../../check/index.ts'
import { checkSpec } from '../spec/test.ts'
import type { Command } from '../command.ts'
import { exit } from '../exit.ts'
import { allowedSecrets, sizeOf } from '../check-options.ts'
import { stepsAsCommands } from '../next-lines.ts'
import { usage } from '../parse.ts'
import { inSmallYoungSpace } from '../young-space.ts'
import { neutralLines, type Screen } from '../../report/output.ts'

/** Judges recordings before they are committed: schema, pairs, digests, secrets, size. Runs nothing. */
export const checkCommand: Command = {
  ...checkSpec,
  async run(given, screen) {
    const instead = ['pins', 'stale', 'health'].filter((name) => given.has(name))
    if (instead.includes('health') && instead.length > 1)
      throw usage(checkCommand, 'HARVEST_CLI_ARGUMENT', '--health stands alone: it lists stale cases too', [
        'to see it all: the same command, without --pins and --stale',
      ])
    if (given.has('pins') || given.has('stale')) return (await import('./pins.ts')).pinsCommand.run(given, screen)
    if (given.has('health')) return (await import('../pins/health.ts')).printHealth(given, screen)
    const limit = ['max-commits', 'max-age', 'retired'].find((name) => given.has(name))
    if (limit !== undefined)
      throw usage(checkCommand, 'HARVEST_CLI_ARGUMENT', `--${limit} needs --stale or --health`, [
        'to list stale cases: --stale',
        'to list all that is wrong with the golden set: --health',
      ])
    const maxSize = sizeOf(given, checkCommand)
    const { checkRecordings } = await import('../../check/index.ts')
    const allow = await allowedSecrets(given, checkCommand)
    const { checked, shared, findings } = await inSmallYoungSpace((goOn) =>
      checkRecordings(given.value('dir'), {
        files: given.args,
        staged: given.has('staged'),
        allow,
        ...(maxSize === undefined ? {} : { maxSize }),
        onProgress(done, all) {
          if (done % 50 === 0) goOn()
          screen.progress(`checking ${done} of ${all}`)
        },
      }),
    )
    const shown = findings.map((one) => ({ ...one, fix: stepsAsCommands(one.fix, checkSpec) }))
    if (given.has('json')) screen.json({ checked, shared, findings: shown })
    else print(checked, shared, findings, screen)
    return exitOf(findings)
  },
}

function print(checked: number, shared: readonly string[], findings: readonly CheckFinding[], screen: Screen): void {
  const errors = findings.filter(({ level }) => level === 'error')
  const files = `${checked} file${checked === 1 ? '' : 's'} checked`
  for (const { level, code, file, line, what, detail, fix } of findings) {
    const place = neutralLine(line === undefined ? file : `${file}:${line}`, 400)
    screen.line(`${screen.paint('bold', place)}  ${level === 'warning' ? 'warning: ' : ''}${neutralLine(what, 300)}`)
    for (const more of detail) screen.line(`  ${neutralLines(more.replace(/^ {2}/, ''))}`)
    for (const next of fix) screen.line(`  → ${neutralLine(next, 500)}`)
    screen.line(`  ${screen.paint('dim', `(${code})`)}`)
  }
  for (const file of shared) screen.line(`shared by all cases: ${neutralLine(file, 400)}`)
  if (findings.length > 0) screen.line()
  if (errors.length === 0) screen.line(`${files}, nothing to fix`)
  else screen.line(`${files}, ${errors.length} issue${errors.length === 1 ? '' : 's'} to fix`)
}

/** A tape that cannot be replayed weighs more than anything else that was found. */
function exitOf(findings: readonly CheckFinding[]): number {
  const errors = findings.filter(({ level }) => level === 'error')
  if (errors.some(({ code }) => /^HARVEST_(?:TAPE_(?!OBSOLETE)|PROMOTE_)/.test(code))) return exit.tape
  return errors.length === 0 ? exit.ok : exit.divergence
}
