// Over 300 lines: each verdict of blame in its sentences.
import {
  type BlameVerdict,
  type CodeAlone,
  type Commitment,
  stopTexts,
  type Undecided,
  usualEffect,
} from '../../blame/index.ts'
import { areTooMany } from '../../blame/lost-forks.ts'
import type { BlamedRun } from '../../blame/run-blame.ts'
import { neutralLine, shellWord } from '../../errors/index.ts'
import { blockedIn, toAllow } from '../../live/off-tape.ts'
import { program } from '../command.ts'
import { withLost } from '../live.ts'
import { typedValues } from '../typed-again.ts'
import { otherInput } from './foreseen.ts'

/** What the curve says, in sentences that need no further knowledge; one per line. */
export function describeVerdict(blamed: BlamedRun, verdict: BlameVerdict): readonly string[] {
  switch (verdict.kind) {
    case 'confirmed':
      return describeConfirmed(blamed, verdict)
    case 'never':
      return describeNever(blamed, verdict)
    case 'diffuse':
    case 'unresolved':
      return describeUndecided(blamed, verdict)
    case 'undecidable':
      return describeUndecidable(blamed, verdict)
    case 'unsure':
      return describeUnsure(blamed, verdict)
  }
}

type Of<K extends BlameVerdict['kind']> = Extract<BlameVerdict, { readonly kind: K }>

function describeConfirmed(blamed: BlamedRun, { commitments, isStillRecoverable, unseen = 0 }: Of<'confirmed'>) {
  const lines = commitments.flatMap((commitment, index) => [
    `${whatOf(blamed, commitment)}${isOfDraws(commitment) ? '' : ','} ${index === commitments.length - 1 ? 'decided the outcome' : 'made the bad outcome likelier'}:`,
    ...proofOf(blamed, commitment),
  ])
  if (isStillRecoverable === true)
    lines.push('After it, runs still end well often enough, but no later step was found.')
  if (unseen > 0) lines.push(`${unseen} later steps were not tested: if the run recovered there, it was lost later.`)
  return [...lines, ...neededToo(blamed, commitments[0]?.position ?? 0)]
}

function proofOf(blamed: BlamedRun, commitment: Commitment): readonly string[] {
  const { codeAlone = noRuns } = commitment
  // What draws do by themselves is no evidence of an answer.
  if (isOfDraws(commitment))
    return [
      `  with every answer of models and tools from the tape, ${endWell({ ok: codeAlone.ok, forks: codeAlone.ok + codeAlone.bad })}: no answer is shown to have decided`,
      `  left are ${drawn}`,
    ]
  return [
    `  ${effectOf(blamed, commitment)}`,
    ...(codeAlone.unknown > 0 && commitment.isDrawn !== true
      ? [
          `  which of the two is not known: with other random numbers, ids or times, ${codeAlone.unknown} of ${codeAlone.bad + codeAlone.unknown} free runs ask there for something else, or cannot be graded`,
        ]
      : []),
    ...whyNotIt(blamed, commitment),
    ...membersOf(commitment),
    ...surplusOf(commitment),
  ]
}

function isOfDraws({ codeAlone = noRuns }: { readonly codeAlone?: CodeAlone }): boolean {
  return codeAlone.ok > 0
}

const noRuns = { ok: 0, bad: 0, unknown: 0 }

/** The position, or what the code drew about it where its own answer was always the same, or is not what decided. */
function whatOf(
  blamed: BlamedRun,
  { position, isDrawn, codeAlone = noRuns }: Pick<Commitment, 'isDrawn' | 'position' | 'codeAlone'>,
): string {
  const name = nameOf(blamed, position)
  if (isOfDraws({ codeAlone }))
    return `What the agent's own code draws or reads from ${stepsText(blamed.steps[position]?.steps ?? [])} on`
  if (codeAlone.unknown > 0 && isDrawn !== true) return `${name}, or what the agent's own code draws or reads before it`
  if (isDrawn !== true) return name
  return blamed.steps[position]?.isExogenous === true
    ? `What the agent's own code drew or read before ${name}`
    : `What came behind ${name}`
}

const drawn = 'random numbers, ids, the clock, the state of its modules'

function whyNotIt({ steps }: BlamedRun, { position, isDrawn }: Commitment): readonly string[] {
  if (isDrawn !== true) return []
  return steps[position]?.isExogenous === true
    ? [`  where it was asked the same, it answered the same; left are ${drawn}`]
    : [
        `  its decision was the same in every run; left are what the code draws or reads (${drawn}), and the words beside it`,
      ]
}

function effectOf({ delta }: BlamedRun, { kept, resampled, how }: Commitment): string {
  if (how === 'exact') {
    const rest =
      kept.forks === 0 ? 'replayed, it is the recorded run' : `replayed, the run ${kept.ok > 0 ? 'ends well' : 'fails'}`
    return `${rest}; resampled, it ${resampled.ok > 0 ? 'ends well' : 'fails'} (exact: a script answers the resampled steps)`
  }
  const certified = `certified at confidence ${confidenceOf(delta)}`
  if (kept.forks === 0) return `replayed, it is the recorded run; resampled, ${endWell(resampled)}; ${certified}`
  return `replayed, ${endWell(kept)}; resampled, ${resampled.ok} of ${resampled.forks} do${interval(resampled)}; ${certified}`
}

/** Of the error rate that the statistics work with. */
export function confidenceOf(delta: number): number {
  return Number((1 - delta).toFixed(12))
}

interface Counted {
  readonly ok: number
  readonly forks: number
}

function of({ ok, forks }: Counted): string {
  return `${ok} of ${forks} runs`
}

function endWell(all: Counted): string {
  return all.forks === 0 ? noneJudged : `${of(all)} end well${interval(all)}`
}

function shareOf(all: Counted): string {
  return all.forks === 0 ? noneJudged : `${of(all)}${interval(all)}`
}

/** A share of nothing is no finding. */
const noneJudged = 'no run could be judged'

/** ` (65 to 99 %)`: what chance alone leaves possible, and which way those ended that could not be graded. */
export function interval({ ok, forks }: Counted, lost = 0): string {
  if (forks + lost === 0) return ''
  const { low, high } = withLost(ok, forks, lost)
  return ` (${(100 * low).toFixed(0)} to ${(100 * high).toFixed(0)} %)`
}

function membersOf({ members = [] }: Commitment): readonly string[] {
  return members.map(
    ({ step, resampled, kept, isConfirmed }) =>
      `  of its steps, step ${step} alone ${isConfirmed ? 'decided' : 'is not shown to have decided'}: resampled, ${endWell(resampled)}; replayed, ${shareOf(kept)}`,
  )
}

function surplusOf({ surplus = 0 }: Commitment): readonly string[] {
  if (surplus === 0) return []
  const were = surplus === 1 ? 'run was' : 'runs were'
  return [`  ${surplus} more ${were} under way at that moment; with --parallel 1 there are none, but it takes longer`]
}

/** Of causes that only do harm together the last one is where the run was lost; the earlier one was needed as well. */
function neededToo(blamed: BlamedRun, position: number): readonly string[] {
  const { repairs, steps, earlier: decisions = [] } = blamed
  const held = decisions.flatMap((one) => {
    const [first = '', ...rest] = proofOf(blamed, one)
    const later = one.held.map((position) => stepsText(steps[position]?.steps ?? [])).join(' and ')
    return [
      `${whatOf(blamed, one)}${isOfDraws(one) ? '' : ','} was necessary too:`,
      `  with ${later} as recorded: ${first.trim()}`,
      ...rest,
    ]
  })
  const earlier = (repairs?.necessary ?? []).filter((one) => one < position)
  if (repairs !== undefined || blamed.tail === 'exact')
    return [
      ...held,
      ...earlier.map((one) => `${nameOf(blamed, one)}, was necessary too: repaired alone, runs end well`),
    ]
  const isOpen = steps.slice(0, position).some(({ isExogenous }) => isExogenous)
  if (!isOpen) return held
  const { whose, reference } = goodAnswers(blamed)
  return [...held, `→ to find whether an earlier recorded answer was necessary too${whose}: --repairs${reference}`]
}

function describeNever(
  blamed: BlamedRun,
  { ok, forks, lost = 0, how, rate, unseen = 0 }: Of<'never'>,
): readonly string[] {
  const { repairs, neverSeen = [] } = blamed
  if (neverSeen.length > 0 && ok === 0)
    return [...noClaim(blamed, forks), ...(repairs === undefined ? repairsHint(blamed) : [])]
  if (how === 'exact' && forks === 0)
    return [
      repairs?.outcome === 'found'
        ? answersDid
        : "The agent's own code decided: this run calls no model, and everything else is answered from the tape.",
      ...(repairs === undefined ? repairsHint(blamed) : []),
    ]
  const bound =
    how === 'exact' || rate === undefined
      ? ' (exact: a script answers the resampled steps)'
      : `${interval({ ok, forks }, lost)}${lost === 0 ? '' : `, whichever way ${lost} ended that could not be graded`}; certified: fewer than ${(rate.high * 100).toFixed(0)} % do`
  // Below the effect that was asked for there is room for one that is usually looked for.
  const isLarge = rate !== undefined && rate.high >= usualEffect && blamed.tau > usualEffect
  return [
    isLarge ? noneSoLarge(blamed) : decidesHere(blamed, ok),
    `  with all model answers resampled, ${of({ ok, forks })} end well${bound}`,
    ...(unseen > 0 ? [`${unseen} steps were not tested; the run might have recovered there.`] : []),
    ...(repairs === undefined ? repairsHint(blamed) : []),
    ...(isLarge ? [smallerEffect] : []),
    ...seePassing(blamed.knownRuns),
  ]
}

function noneSoLarge({ tau }: BlamedRun): string {
  return `No single step has an effect of ${tau} or more (--min-effect). One may have a smaller one, or several.`
}

const smallerEffect = `→ to look for a smaller effect, with all runs so far: --min-effect ${usualEffect}, without --no-cache`

/** A condition that no run is known to meet says nothing of the agent, be it mistyped or not; a function that grades none ok, neither. */
export function noClaim(
  {
    neverSeen = [],
    knownRuns,
    gradedBy,
    steps = [],
    tools,
  }: Pick<BlamedRun, 'gradedBy' | 'knownRuns' | 'neverSeen'> & Partial<Pick<BlamedRun, 'steps' | 'tools'>>,
  forks: number,
): readonly string[] {
  const hasTools = areFromTape({ steps, ...(tools === undefined ? {} : { tools }) })
  const code = `the code of the agent${hasTools ? ', its prompt or the answers of its tools' : ' or its prompt'} decided`
  const { said, otherwise, ways } = doubtOf(gradedBy, knownRuns?.passing !== undefined)
  return [
    `No claim: ${forks === 0 ? '' : `${said.of(forks)}, and `}it is not known that ${said.unknown}.`,
    ...neverSeen.map((text) => `  ${neutralLine(text, 200)}`),
    `  ${otherwise(code)}`,
    ...seePassing(knownRuns),
    ...ways,
  ]
}

interface Doubt {
  readonly said: { of(forks: number): string; readonly unknown: string }
  /** What is left, with the code and without it. */
  otherwise(code: string): string
  readonly ways: readonly string[]
}

function doubtOf(gradedBy: string, hasPassing: boolean): Doubt {
  const isOfBad = typedValues('bad').length > 0 && typedValues('ok').length === 0
  if (gradedBy.startsWith('--oracle '))
    return {
      said: {
        of: (forks) => `none of ${forks} runs is graded ok`,
        unknown: 'the oracle grades a run of this input ok',
      },
      otherwise: (code) => `Either ${code}, or the oracle calls good runs bad, too.`,
      ways: [
        ...(hasPassing ? [] : [`→ to tell the two apart, name a good run: --reference ${unnamed}`]),
        "→ to grade runs by a call that is right: --ok '<call>', without --oracle",
      ],
    }
  return {
    said: isOfBad
      ? { of: (forks) => `each of ${forks} runs is bad by the condition`, unknown: 'a run can be good' }
      : { of: (forks) => `none of ${forks} runs met the condition`, unknown: 'a run can meet it' },
    otherwise: (code) =>
      `If it is right, ${code}; if it is mistyped${isOfBad ? ' or true of good runs too' : ''}, nothing is known.`,
    ways: [
      // With one of the two that is doubted, the next answer would be this one again.
      `→ to grade runs by a call that is right: --ok '<call>'${typedValues('bad').length > 0 ? ', without --bad' : ''}`,
      ...(hasPassing ? [] : [`→ or name a good run that meets it: --reference ${unnamed}`]),
    ],
  }
}

function seePassing({ passing }: NonNullable<BlamedRun['knownRuns']> = {}): readonly string[] {
  return passing === undefined ? [] : [`→ to see what a run that passes does: ${program} show ${shellWord(passing)}`]
}

const answersDid = 'No model decided the outcome: recorded answers did.'

/** Whether tools answered from the tape: the same in each run, so their answers may have decided. */
function areFromTape({ steps = [], tools }: Partial<Pick<BlamedRun, 'steps' | 'tools'>>): boolean {
  return steps.some(({ isExogenous }) => isExogenous) && tools !== 'called for real'
}

/** What is left when no model decided: the answers of tools, or else what the agent is made of. */
function decidesHere({ repairs, steps, tools, unrepaired = [] }: BlamedRun, ok: number): string {
  if (repairs?.outcome === 'found') return answersDid
  const hasTools = areFromTape({ steps, tools })
  // An answer that was not repaired may have decided.
  const isCleared = unrepaired.length === 0 && ['no_help', 'equal'].includes(repairs?.outcome ?? '')
  const [first] = steps.flatMap(({ resampled }) => (resampled === undefined ? [] : [resampled]))
  if (ok > 0 || (hasTools && !isCleared)) {
    return `No step was shown to decide the outcome: check the prompt, the code of the agent${hasTools ? ' or the answers of its tools' : ', the tools or the environment'}.`
  }
  // Other words are no other decisions. However many there were, the right one may be what a model hardly ever decides.
  const decisions = first?.decisions ?? first?.distinct ?? 0
  return decisions > 1
    ? `The agent's own code decided, its prompt, or a model that is nearly always wrong: the run fails with each of ${decisions} different decisions of its models.`
    : 'Its models decide the same each time, and the run fails: check the prompt, the model and the code of the agent.'
}

function repairsHint(blamed: BlamedRun): readonly string[] {
  if (!areFromTape(blamed)) return []
  const { whose, reference } = goodAnswers(blamed)
  return [`→ to find which recorded answers decided${whose}: --repairs${reference}`]
}

/** Where repairs take answers from, in words and as an option: neither, where a run is named already, or tools run for real. */
function goodAnswers({ knownRuns, tools }: BlamedRun): { readonly whose: string; readonly reference: string } {
  if (typedValues('reference').length > 0 || tools === 'called for real') return { whose: '', reference: '' }
  const { answers, ofOtherInput = [] } = knownRuns ?? {}
  // With the answers of the tape there is nothing to repair.
  if (answers === undefined)
    return { whose: ', name a good run with other answers', reference: ` --reference ${unnamed}` }
  const whose = `, with a good run${otherInput(ofOtherInput.includes(answers))}`
  return { whose, reference: ` --reference ${shellWord(answers)}` }
}

/** Which run is good, only people know. */
const unnamed = "'<tape|case>'"

function describeUnsure(blamed: BlamedRun, { positions }: Of<'unsure'>): readonly string[] {
  const { same, of: all } = blamed.selfAgreement ?? { same: 0, of: 0 }
  return [
    `Not certified: the oracle agrees with itself in ${percent(same / Math.max(1, all))} of its grades, and 95 % are needed.`,
    ...positions.map((position) => `  it would have been ${nameOf(blamed, position)}`),
    ...(positions.length === 0 ? ['  it would have been no step'] : []),
    "→ to grade runs by a call that is right: --ok '<call>', without --oracle and --flaky-oracle",
  ]
}

function describeUndecided(blamed: BlamedRun, undecided: Undecided): readonly string[] {
  const { kind, range, never, likeliest, smaller, forksNeeded, stoppedBy } = undecided
  const limit = stoppedBy === undefined || stoppedBy === 'smallEffect' ? '' : ` ${stopTexts[stoppedBy]}`
  // What is thought likely before anything was seen is no finding.
  if (blamed.spent.forks === 0) return [`Not resolved: the limit${limit} leaves room for no run.`]
  const where = placesOf(blamed, range)
  const guess =
    likeliest === undefined
      ? []
      : [`  likeliest, not certified: ${whatOf(blamed, likeliest)} (${percent(likeliest.chance)})`]
  const none = `  that no step decided: ${percent(never)}`
  if (kind === 'diffuse' && smaller !== undefined) return describeSmaller(blamed, smaller)
  if (kind === 'diffuse') {
    return [
      'Not resolved: no single step was shown to decide the outcome. Several may have, each a little.',
      `  if one step decided nevertheless, ${where} (90 % credible range)`,
      ...guess,
      none,
    ]
  }
  if (stoppedBy === 'smallEffect') {
    const all = forksNeeded === undefined ? undefined : blamed.spent.forks + forksNeeded
    return [
      'Not resolved: no step has a large effect, and a small one takes many runs to certify.',
      `  if one step decided, ${where} (90 % credible range)`,
      ...guess,
      none,
      `→ to go on, with all runs so far: --max-runs ${Math.max(400, Math.ceil((all ?? 0) / 100) * 100)}, without --no-cache`,
    ]
  }
  const onward = blamed.spent.now.forks === 0 ? '; this limit leaves room for none' : ''
  const more = forksNeeded === undefined ? [] : [`About ${forksNeeded} more forks are likely needed${onward}.`]
  return [
    `Not resolved: stopped by the limit${limit}.`,
    `  if one step decided, ${where} (90 % credible range)`,
    ...guess,
    none,
    ...more,
  ]
}

/** What was tested takes less than the minimum effect: that a step decided would be another claim than the one asked for. */
function describeSmaller(blamed: BlamedRun, position: number): readonly string[] {
  const { tau } = blamed
  const { drop } = blamed.steps[position] ?? {}
  return [
    `Not resolved: no single step was shown to have an effect of ${tau} or more (--min-effect). One may have a smaller one, or several.`,
    ...(drop === undefined
      ? []
      : [`  largest effect measured, not certified: ${whatOf(blamed, { position })} (${drop.toFixed(2)})`]),
    ...(drop !== undefined && drop >= usualEffect && tau > usualEffect ? [smallerEffect] : []),
  ]
}

function describeUndecidable(blamed: BlamedRun, { forks, undefined: lost, ungraded, positions }: Of<'undecidable'>) {
  const tested = [...new Set(positions.flatMap((at) => blamed.steps[at]?.steps ?? []))].sort((a, b) => a - b)
  // Of all runs they may be few: what counts is how many of those they are that a claim would rest on.
  const where =
    areTooMany(lost + ungraded, forks) || tested.length === 0
      ? ''
      : `: too many of those that test ${stepsText(tested)}`
  return [
    `Undecidable: ${lost + ungraded} of ${forks} forks are ungraded${where}.`,
    ...whyUnclear(blamed),
    ...(lost > 0
      ? ["→ to find what makes the agent diverge from its tape: npx vitest-harvest doctor '<tape|case>'"]
      : []),
    ...(lost > 0 && typedValues('parallel').at(-1) !== '1'
      ? ['→ if runs that are under way at once disturb each other: --parallel 1 --no-cache']
      : []),
  ]
}

/** A reason, with what the provider said the first time. */
export function unclearText({ because, said }: BlamedRun['unclear'][number]): string {
  return neutralLine(said === undefined ? because : `${because}: ${said}`, 200)
}

/** Why forks could not be graded, and what helps. */
export function whyUnclear(blamed: BlamedRun): readonly string[] {
  const { unclear, tools, isGradedByCalls } = blamed
  const isSaid = (text: string): boolean => unclear.some(({ because }) => because.includes(text))
  const refused = [...new Set(unclear.flatMap(({ because }) => blockedIn(because) ?? []))]
  const isLost = unclear.some(({ because }) => because.includes('HARVEST_NOT_RECORDED') && !blockedIn(because))
  const isOffTape = isLost && tools !== 'called for real'
  const isBlind = isSaid(' cannot say')
  return [
    ...unclear.map((one) => `  ${one.forks} × ${unclearText(one)}`),
    ...refused.map((reached) => `→ ${toAllow(reached)}`),
    ...((isOffTape || isBlind) && isGradedByCalls !== true
      ? ["→ to grade runs by a call that is right: --ok '<call>'"]
      : []),
    ...(isBlind ? ['→ or let the oracle return true or false for such runs, not undefined'] : []),
    ...(isSaid('Neither --ok nor --bad fits') && typedValues('ok').length > 0 && typedValues('bad').length > 0
      ? ['→ to take such runs for bad: the same command, without --bad']
      : []),
    ...(isOffTape
      ? [
          // With that of a good run, they left the tape as well.
          ...(typedValues('reference').length > 0 ? [] : answersOfCalls(blamed.knownRuns)),
          '→ to call tools for real, with their side effects: --tools live',
        ]
      : []),
  ]
}

function answersOfCalls({ calls, ofOtherInput = [] }: NonNullable<BlamedRun['knownRuns']> = {}): readonly string[] {
  if (calls === undefined)
    return [`→ to answer tools as well, name a good run that made such calls: --reference ${unnamed}`]
  return [
    `→ to answer tools from a good run${otherInput(ofOtherInput.includes(calls))} as well: --reference ${shellWord(calls)}`,
  ]
}

/** `step 4, the model's decision refund(amount: 2500)`. */
export function nameOf({ steps: all }: Pick<BlamedRun, 'steps'>, position: number): string {
  const { steps = [], label = '' } = all[position] ?? {}
  return `${stepsText(steps)}, ${neutralLine(label, 160)}`
}

/** `step 4`, `steps 2 and 3`, `steps 2 to 5`. */
function stepsText(steps: readonly number[]): string {
  const [first = 0] = steps
  const last = steps.at(-1) ?? first
  if (steps.length <= 1) return `step ${first}`
  return steps.length === 2 ? `steps ${first} and ${last}` : `steps ${first} to ${last}`
}

function placesOf({ steps: positions }: BlamedRun, { from, to }: Undecided['range']): string {
  const first = positions[from]?.steps[0] ?? 0
  const last = positions[to]?.steps.at(-1) ?? first
  return first === last ? `it is step ${first}` : `it lies between step ${first} and step ${last}`
}

function percent(part: number): string {
  return `${(part * 100).toFixed(0)} %`
}
