import { HarvestError, neutralLine, shellWord } from '../errors/index.ts'
import { createRedactor, type RedactorOptions, rulesOfTape } from '../privacy/index.ts'
import { type Json, type Tape, unclearedReason, unsearchedReason } from '../tape/index.ts'
import { cutOffText, openCallsOf } from '../tape/cut-off.ts'
import { cutsOf, partialText, unsearchedBodies } from '../tape/partial.ts'
import { secretsIn } from './secrets.ts'
import { toAllow } from './to-allow.ts'

/**
 * @param acceptUnsearched - bodies may be missing that could not be searched for secrets; a replay that needs one is red
 * @throws HARVEST_PROMOTE_TRUNCATED, HARVEST_PROMOTE_INCOMPLETE
 */
export function refuseUnfinished(tape: Tape, acceptUnsearched = false): void {
  const { source, events, close } = tape
  if (close === undefined) {
    const cutOff = cutOffText(openCallsOf(tape))
    throw new HarvestError('HARVEST_PROMOTE_TRUNCATED', {
      what: 'Cannot promote a truncated tape: its outcome is missing',
      where: {
        tape: source,
        holds: `${events.length} event(s) and no closing line`,
        ...(cutOff !== undefined && { ended: cutOff }),
      },
      why: 'The process ended before its run did, or the end of the file was lost.',
      fix: ['record the run again', `to see what was recorded: npx vitest-harvest show ${shellWord(source)}`],
    })
  }
  const unsearched = unsearchedBodies({ events })
  const lacksBodies = unsearched > 0 && close.incomplete === unsearchedReason(unsearched)
  if (lacksBodies && !acceptUnsearched) {
    throw new HarvestError('HARVEST_PROMOTE_INCOMPLETE', {
      what: 'Cannot promote a tape with bodies that were not searched for secrets',
      where: { tape: source, reason: close.incomplete! },
      why: 'The recorder left these bodies out, so a replay that needs one is red.',
      fix: [
        'wrap the function that sends them in tool() and record the run again',
        'to promote it anyway: --accept-unsearched',
      ],
    })
  }
  if (close.incomplete?.startsWith(unclearedReason) === true) {
    throw new HarvestError('HARVEST_PROMOTE_SECRET', {
      what: 'A secret may stand in clear on the tape: it could not be written once more',
      where: { tape: source, reason: neutralLine(close.incomplete) },
      why: 'Its name came later than it did, so it was written down first.',
      fix: [
        `to remove it: npx vitest-harvest tapes rm ${shellWord(source)}`,
        'and record the run again, where there is space and the folder is writable',
      ],
    })
  }
  if (close.incomplete !== undefined && !lacksBodies) {
    throw new HarvestError('HARVEST_PROMOTE_INCOMPLETE', {
      what: 'Cannot promote an incomplete tape: its recording failed',
      where: { tape: source, reason: neutralLine(close.incomplete) },
      why: 'A replay would miss the events that were not recorded.',
      fix: ['record the run again', `to see what was recorded: npx vitest-harvest show ${shellWord(source)}`],
    })
  }
}

/**
 * Refuses a tape of which bodies are cut, unless someone accepted that: its case is red as soon as the agent reads on.
 *
 * @throws HARVEST_PROMOTE_CUT
 */
export function refuseCut(tape: Tape, { acceptCut = false }: { readonly acceptCut?: boolean }): void {
  const cuts = cutsOf(tape)
  if (cuts.length === 0 || acceptCut) return
  throw new HarvestError('HARVEST_PROMOTE_CUT', {
    what: "The tape is partial: bodies or values were larger than the recorder's cap",
    where: { tape: tape.source, grade: partialText(cuts) },
    why: 'A replay serves a cut body up to the cut and no cut value, and is red when the agent needs more.',
    fix: [
      'record the run again with a larger cap: createRecorder({ bodies: { maxMegabytes: … } })',
      'if the agent never needs what was left out: --accept-cut',
    ],
  })
}

/**
 * Refuses a tape without a step, unless someone said that this is right: its case would hold no matter what the agent
 * does where no recorder sees it.
 *
 * @throws HARVEST_PROMOTE_EMPTY
 */
export function refuseEmpty(
  { source, events, close }: Tape,
  { acceptEmpty = false }: { readonly acceptEmpty?: boolean },
): void {
  const steps = ['exchange', 'tool', 'retrieval', 'value']
  if (acceptEmpty || events.some(({ kind }) => steps.includes(kind))) return
  const { outcome, unrecorded = [], late = [] } = close ?? {}
  const started = events.flatMap((event) => (event.kind === 'spawn' ? [event.command.join(' ')] : []))
  const { what, fix } = emptiness(outcome?.status === 'threw', late.length > 0, started.length > 0)
  throw new HarvestError('HARVEST_PROMOTE_EMPTY', {
    what,
    where: {
      tape: source,
      outcome: outcome?.status ?? 'unknown',
      ...listed(
        'after it',
        late.map(({ name }) => name),
      ),
      ...listed('started', started),
      ...listed('not recorded', unrecorded),
    },
    why: 'A case without steps proves nothing: what the recorder did not see is not compared.',
    fix: [`${fix}, and record the run again`, 'if the agent takes no step: --accept-empty'],
  })
}

/** Why a run has no step, and what to do. */
function emptiness(
  threw: boolean,
  isLate: boolean,
  isListener: boolean,
): { readonly what: string; readonly fix: string } {
  if (threw) return { what: 'The run threw before its first step', fix: 'fix what it threw' }
  if (isLate) {
    return {
      what: 'The tape has no step: the agent made its requests after it had returned',
      fix: 'read what the agent returns before it returns, as in `return await result.text`',
    }
  }
  if (isListener) {
    return {
      what: 'The tape has no step: the agent said nothing to the process it started',
      fix: 'wrap the function that starts it in tool()',
    }
  }
  return {
    what: 'The tape has no step: the agent asked no model and called no tool',
    fix: 'wrap what the agent calls in tool() or value()',
  }
}

function listed(title: string, names: readonly string[]): Readonly<Record<string, string>> {
  return names.length > 0 ? { [title]: neutralLine(names.join(', '), 300) } : {}
}

/**
 * Refuses a case that would check an outcome that was not seen.
 *
 * @throws HARVEST_PROMOTE_OUTCOME
 */
export function refuseUnknown(
  { source, close, header }: Tape,
  {
    oracle,
    outcome,
    baselineOnly,
  }: { readonly oracle?: string; readonly outcome?: Json; readonly baselineOnly?: boolean },
): void {
  const isSaid = oracle !== undefined || outcome !== undefined || baselineOnly === true
  if (close?.outcome.status !== 'unknown' || isSaid) return
  throw new HarvestError('HARVEST_PROMOTE_OUTCOME', {
    what: 'Cannot promote a tape with an unknown outcome: name the right one',
    where: {
      tape: source,
      imported: header.imported?.format ?? 'unknown',
      outcome: 'unknown (the import did not see it)',
    },
    why: 'The recording does not state how its run ended, and a case never checks a guess.',
    fix: [
      'to check the recorded tool calls alone: --baseline',
      'to name the function that grades runs: --oracle ./src/oracle.ts#isRight',
      `to state what the agent returns: --outcome '{"refunded":25}'`,
    ],
  })
}

/**
 * Looks for secrets once more: the recorder takes them out before it writes, but a tape from elsewhere, or one that
 * was recorded with other rules, may hold some, and a case is committed for everybody to read.
 *
 * @throws HARVEST_PROMOTE_SECRET with kinds and lines, never with what was found
 */
export function refuseSecrets(tape: Tape, text: string, options: RedactorOptions): void {
  // Its recorder has applied the patterns already; those of a tape from elsewhere are code that may run for ever.
  const { rules: _, ...names } = tape.header.redact ?? {}
  const found = secretsIn(
    tape,
    text,
    createRedactor(
      { ...rulesOfTape({ ...tape, header: { ...tape.header, redact: names } }), ...options },
      { keys: true },
    ),
  )
  if (found.length === 0) return
  const shown = found.slice(0, 12).map(({ place }) => place)
  const more = found.length - shown.length
  throw new HarvestError('HARVEST_PROMOTE_SECRET', {
    what: 'The tape holds what looks like a secret, and cases are committed',
    where: { tape: tape.source },
    detail: [...shown, ...(more > 0 ? [`… and ${more} more`] : [])].map((line) => `  ${line}`).join('\n'),
    fix: [
      'record the run again: the recorder removes secrets before it writes',
      `to see it: npx vitest-harvest show ${shellWord(tape.source)}`,
      ...toAllow(found, options.off).map((allowing) => `if it is not a secret: ${allowing}`),
    ],
  })
}

/**
 * Refuses the tape of a whole program, unless an agent is named that does the same.
 *
 * @throws HARVEST_PROMOTE_PROGRAM
 */
export function refuseProgram({ header, source }: Tape, agent: string | undefined): void {
  const { command } = header
  if (command === undefined || agent !== undefined) return
  throw new HarvestError('HARVEST_PROMOTE_PROGRAM', {
    what: 'Cannot promote the tape of a whole program',
    where: { tape: source, program: neutralLine(command.argv.join(' '), 60) },
    why: 'A case calls a function of the Vitest config; a program is run again by its command.',
    fix: [
      `to run it again: npx vitest-harvest replay ${shellWord(source)}`,
      'to make a case: record its main function with recorder.run, and name that in harvest({ agents })',
      "or name an agent that does what the program did: --agent '<name>'",
    ],
  })
}
