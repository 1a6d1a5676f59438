import { readFileSync } from 'node:fs'
import { requireTapeFile } from '../../cases/index.ts'
import { stepsElsewhere } from '../../errors/above.ts'
import { neutralLine } from '../../errors/index.ts'
import { versionedFiles } from '../../provenance/index.ts'
import { findCase, listCases, listTapes } from '../../recordings/index.ts'
import { readTape } from '../../tape/index.ts'
import { requireClosed } from '../../tape/closed.ts'
import { doctorSpec } from '../spec/debug.ts'
import type { Command } from '../command.ts'
import { checkSetUp } from '../doctor/set-up.ts'
import { type DoctorReport, examineAll, type Patient, type Untreated } from '../doctor/examine.ts'
import { findingsOf, isCode, isOpen, isUnseen } from '../../doctor/findings.ts'
import { printDoctor } from '../doctor/print.ts'
import { exit, exitCodeOf } from '../exit.ts'
import { findTapeFile } from '../find.ts'
import { readDuration } from '../live.ts'
import { tapeWord } from '../named-tape.ts'
import { printAnswer } from '../next-lines.ts'
import type { Screen } from '../../report/output.ts'

/** Finds what makes runs irreproducible, and names the line: `npx vitest-harvest doctor [tape|case...]`. */
export const doctorCommand: Command = {
  ...doctorSpec,
  async run(given, screen) {
    const recordings = given.value('dir') ?? 'recordings'
    const isWhole = given.args.length === 0
    const { patients, untreated } = isWhole ? allCases(recordings) : named(given.args, recordings)
    const tapes = isWhole ? listTapes(recordings).filter(({ state }) => state !== 'unreadable') : []
    const [newest] = tapes
    const checks = isWhole ? await checkSetUp(recordings, tapes) : []
    const isVersioned = (await versionedFiles(process.cwd())) ?? isInside
    const timeoutMs = readDuration(given, doctorCommand, 'timeout')
    const looked = await examineAll(timed(patients, timeoutMs), isVersioned, screen)
    const diagnoses = looked.diagnoses
    const report: DoctorReport = {
      checks,
      findings: findingsOf(diagnoses, isVersioned),
      diagnoses,
      untreated: [...untreated, ...looked.untreated],
      isVersioned,
      above: isWhole ? stepsElsewhere(recordings) : [],
      ...(newest === undefined ? {} : { newest: tapeWord(newest.file, recordings) }),
    }
    const print = (shown: Screen): void => printDoctor(report, given.has('verbose'), shown)
    printAnswer(jsonOf(report), print, { given, spec: doctorCommand, screen })
    return codeOf(report)
  },
}

function timed(patients: readonly Patient[], timeoutMs: number | undefined): readonly Patient[] {
  return timeoutMs === undefined ? patients : patients.map(({ name, job }) => ({ name, job: { ...job, timeoutMs } }))
}

/** Where git knows nothing, what lies in the project is code. */
function isInside(path: string): boolean {
  return path.startsWith(process.cwd())
}

function codeOf({ checks, findings, diagnoses, untreated }: DoctorReport): number {
  const [failed] = untreated
  const isWrong = findings.length > 0 || diagnoses.some(isUnseen) || checks.some(({ state }) => state === 'wrong')
  if (isWrong) return exit.divergence
  return failed === undefined ? exit.ok : exitCodeOf(failed.error)
}

function allCases(recordings: string): { patients: readonly Patient[]; untreated: readonly Untreated[] } {
  const patients: Patient[] = []
  const untreated: Untreated[] = []
  for (const { id, case: loaded, error } of listCases(recordings)) {
    if (loaded !== undefined && error === undefined) patients.push(patientOf(requireTapeFile(loaded), id, loaded.file))
    else if (error !== undefined) untreated.push({ name: id, error })
  }
  return { patients, untreated }
}

/** A word names a case of the golden set, or else a tape. */
function named(words: readonly string[], recordings: string): { patients: readonly Patient[]; untreated: [] } {
  const cases = listCases(recordings)
  const patients = words.map((word) => {
    const isCase = /\.case\.ya?ml$/.test(word) || cases.some(({ id, group }) => [id, `${group}/${id}`].includes(word))
    if (!isCase) {
      const file = findTapeFile(word, recordings)
      return patientOf(file, requireClosed(readTape(file)).header.id)
    }
    const { id, case: loaded, error } = findCase(recordings, word)
    if (error !== undefined) throw error
    if (loaded === undefined) throw new TypeError(`the case ${id} is neither loaded nor wrong`)
    return patientOf(requireTapeFile(loaded), id, loaded.file)
  })
  return { patients, untreated: [] }
}

function patientOf(tape: string, name: string, file?: string): Patient {
  const kase = file === undefined ? {} : { case: { file, text: readFileSync(file, 'utf8') } }
  return { name, job: { tape, probe: 'sources', ...kase } }
}

function jsonOf({ checks, findings, diagnoses, untreated, isVersioned }: DoctorReport): object {
  return {
    clean:
      findings.length === 0 &&
      !diagnoses.some(isUnseen) &&
      untreated.length === 0 &&
      checks.every(({ state }) => state !== 'wrong'),
    checks,
    findings: findings.map(({ site, ...finding }) => ({ ...placeOf(site), ...finding })),
    tapes: diagnoses.map(({ tape, examination: { replays, held, threw, missing, found, harmless, notVaried } }) => ({
      tape,
      replays,
      // Whether the plain replay was the recorded run, and not only the same each time.
      asRecorded: held,
      ...(threw === undefined ? {} : { threw }),
      missing: missing.map(({ key: _, ...reading }) => reading),
      harmless: [
        ...harmless.filter((reading) => !isOpen(reading)),
        ...found.filter(({ reading }) => isCode(reading, isVersioned)).map(({ reading }) => reading),
      ].map(({ key: _, ...reading }) => reading),
      undecided: harmless.filter(isOpen).map(({ key: _, ...reading }) => reading),
      notVaried: notVaried.map(({ key: _, ...reading }) => reading),
    })),
    failed: untreated.map(({ name, error: { code, facts } }) => ({ tape: name, code, what: neutralLine(facts.what) })),
  }
}

function placeOf(site: string | undefined): { file?: string; line?: number; column?: number } {
  const [, file, line, column] = /^(.*):(\d+):(\d+)$/.exec(site ?? '') ?? []
  return file === undefined ? {} : { file, line: Number(line), column: Number(column) }
}
