import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { HarvestError, shellWord } from '../../errors/index.ts'
import { toRecord } from '../../errors/usual-steps.ts'
import { newId } from '../../record/recorder.ts'
import { readTape, stepsOf, type Tape } from '../../tape/index.ts'
import { recordSpec } from '../spec/record.ts'
import type { Command } from '../command.ts'
import { describeOutcome } from '../../report/describe.ts'
import { exit } from '../exit.ts'
import { isInManifest } from '../listed-programs.ts'
import { offerListing } from '../offer-listing.ts'
import { usage } from '../parse.ts'
import { type ProgramExit, runProgram, toRecorded } from '../../jobs/program.ts'

/** Runs a program with the recorder loaded before it; the whole program is one run. */
export const recordCommand: Command = {
  ...recordSpec,
  async run(given, screen) {
    const { rest = [] } = given
    if (rest.length === 0)
      throw usage(recordCommand, 'HARVEST_CLI_ARGUMENT', 'record needs a program after --', [`with one: ${toRecord}`])
    const dir = resolve(given.value('dir') ?? join('recordings', 'inbox'))
    const id = checkedId(given.value('id') ?? newId())
    const path = join(dir, `${id}.tape.jsonl`)
    if (existsSync(path)) throw taken(path)
    const ended = await runProgram(
      { argv: rest[0] === process.execPath ? ['node', ...rest.slice(1)] : rest, cwd: process.cwd() },
      {
        preload: 'record/register',
        env: {
          VITEST_HARVEST_DIR: dir,
          VITEST_HARVEST_ID: id,
          VITEST_HARVEST_AGENT: given.value('agent') ?? 'program',
          VITEST_HARVEST_ARGV: JSON.stringify(toRecorded(rest)),
        },
        output: given.has('json') ? 'stderr' : 'inherit',
      },
    )
    const tape = readTape(written(path, ended))
    if (given.has('json')) screen.json({ tape: path, ...facts(tape), exitCode: ended.code })
    else {
      screen.note(said(tape, path))
      if (tape.close !== undefined && stepsOf(tape).length > 0) await offerListing(tape, given.value('agent'), screen)
    }
    // A program that ended well and left half a tape has not been recorded.
    return ended.code === 0 && tape.close === undefined ? exit.tape : ended.code
  },
}

function facts(tape: Tape): { id: string; steps: number; closed: boolean; incomplete?: string } {
  const { close, header } = tape
  const incomplete = close?.incomplete === undefined ? {} : { incomplete: close.incomplete }
  return { id: header.id, steps: stepsOf(tape).length, closed: close !== undefined, ...incomplete }
}

function said(tape: Tape, path: string): string {
  const { close } = tape
  const count = stepsOf(tape).length
  const end =
    close === undefined ? 'truncated: the program ended before the tape was closed' : describeOutcome(close.outcome)
  const unrecorded = (close?.unrecorded ?? []).map((what) => `not recorded: ${what}`)
  const incomplete = close?.incomplete === undefined ? [] : [`incomplete: ${close.incomplete}`]
  const next =
    count === 0
      ? [`→ no step was recorded: name the program itself, not one that starts it: ${toRecord}`]
      : close === undefined
        ? []
        : [
            `→ to run it again from the tape: npx vitest-harvest replay ${shellWord(path)}${isKnown(tape) ? '' : ' --run-recorded'}`,
          ]
  return [
    `harvest: ${count} step${count === 1 ? '' : 's'}, ${end} → ${path}`,
    ...unrecorded,
    ...incomplete,
    ...next,
  ].join('\n')
}

function isKnown({ header }: Tape): boolean {
  return isInManifest(header.command?.argv ?? [])
}

function written(path: string, { code, signal }: ProgramExit): string {
  if (existsSync(path)) return path
  throw new HarvestError('HARVEST_CLI_NOT_RECORDED', {
    what: 'The program ended without a tape',
    where: { expected: path, program: signal === null ? `exit code ${code}` : `ended by ${signal}` },
    why: 'Only Node programs can be recorded, and the program must reach its first line.',
    fix: ['check the spelling of its file', `to record another one: ${toRecord}`],
  })
}

function checkedId(id: string): string {
  if (/^[A-Za-z0-9][\w.-]{0,99}$/.test(id) && !id.includes('..')) return id
  throw new HarvestError('HARVEST_CLI_OPTION', {
    what: 'Invalid tape id: it must be a valid file name',
    where: { id: JSON.stringify(id) },
    fix: ['use letters, digits, dots, dashes and underscores, at most 100: --id refund-100x'],
  })
}

function taken(path: string): HarvestError {
  return new HarvestError('HARVEST_TAPE_EXISTS', {
    what: 'A tape with this id exists, and tapes are never overwritten',
    where: { tape: path },
    fix: ['use another --id, or omit it for a new one'],
  })
}
