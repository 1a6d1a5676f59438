import { basename, resolve } from 'node:path'
import { isOfSameQuestion } from '../blame/other-tape.ts'
import type { KnownRun } from '../blame/types.ts'
import { type Case, requireTapeFile } from '../cases/index.ts'
import { HarvestError } from '../errors/index.ts'
import { here } from '../errors/here.ts'
import { headerOf, listCases, RecordingFiles } from '../recordings/index.ts'
import type { Tape, TapeHeader } from '../tape/index.ts'
import { isFoundByName } from './named-tape.ts'
import type { NextStep } from './next-steps.ts'
import { type OptionChanges, typedAgain } from './typed-again.ts'

/** So many runs of either kind are looked at. */
const mostKnown = 20

/**
 * Runs that may be good ones: cases of the same agent that pass, those of the same input first, and behind them tapes of the
 * inbox that were asked the very same, the last one first. Graded as another one is, they say what a run can be. A function
 * grades them later, in the process that can load it.
 */
export function knownRuns(
  { agent }: { readonly agent?: string | undefined },
  recordings: string,
  tape: Pick<Tape, 'header'>,
): readonly KnownRun[] {
  const isMeant = (header: TapeHeader): boolean => isAlike(header, tape)
  return [...passingRuns(agent, recordings, tape), ...inboxRuns(recordings, tape, isMeant)]
}

/** Runs whose answers may help: cases of the agent that pass, and tapes of the inbox, those of the same input first. */
export function otherRuns(agent: string, recordings: string, tape: Pick<Tape, 'header'>): readonly KnownRun[] {
  const isMeant = (header: TapeHeader): boolean => header.agent === agent
  return [...passingRuns(agent, recordings, tape), ...inboxRuns(recordings, tape, isMeant)]
}

function passingRuns(agent: string | undefined, recordings: string, tape: Pick<Tape, 'header'>): readonly KnownRun[] {
  const passing = listCases(recordings).flatMap(({ case: kase }) => {
    if (kase === undefined || kase.agent !== agent || kase.expect !== 'pass') return []
    const file = tapeFileOf(kase)
    return file === undefined ? [] : [{ name: kase.id, file, passes: true }]
  })
  const isSame = ({ file }: KnownRun): boolean => isAlike(headerOf(file), tape)
  return [...passing.filter(isSame), ...passing.filter((run) => !isSame(run))].slice(0, mostKnown)
}

/** The last one first. */
function inboxRuns(
  recordings: string,
  tape: Pick<Tape, 'header'>,
  isMeant: (header: TapeHeader) => boolean,
): readonly KnownRun[] {
  const found = new RecordingFiles(recordings).inboxTapes.flatMap((file) => {
    const header = headerOf(file)
    return header !== undefined && isMeant(header) ? [{ file, header, isSame: isAlike(header, tape) }] : []
  })
  return found
    .sort((a, b) => Number(b.isSame) - Number(a.isSame) || (a.header.startedAt < b.header.startedAt ? 1 : -1))
    .slice(0, mostKnown)
    .map(({ file }) => ({ name: nameOf(file, recordings), file: resolve(file), passes: false }))
}

function isAlike(header: TapeHeader | undefined, tape: Pick<Tape, 'header'>): boolean {
  return header !== undefined && isOfSameQuestion({ header }, tape)
}

function nameOf(file: string, recordings: string): string {
  return isFoundByName(file, recordings) ? basename(file, '.tape.jsonl') : here(file)
}

/** What was typed, with another run to answer what its own tape does not: of the same input, or one that people have to name. */
export function withReference(about: string, kase: Case, recordings: string, changes: OptionChanges = {}): NextStep {
  const own = tapeFileOf(kase)
  const header = own === undefined ? undefined : headerOf(own)
  const other =
    header &&
    listCases(recordings).find(
      ({ case: one }) =>
        one !== undefined &&
        one.id !== kase.id &&
        one.agent === kase.agent &&
        one.expect === 'pass' &&
        isAlike(headerOf(tapeFileOf(one) ?? ''), { header }),
    )
  return other === undefined
    ? { about: `${about}, name a good run`, command: typedAgain({ ...changes, reference: '<tape|case>' }) }
    : { about, command: typedAgain({ ...changes, reference: other.id }) }
}

/** `undefined` where the tape of a case is gone: such a case is no proposal. */
function tapeFileOf(kase: Case): string | undefined {
  try {
    return resolve(requireTapeFile(kase))
  } catch (error) {
    if (HarvestError.is(error)) return undefined
    throw error
  }
}
