import { HarvestError, neutralLine, shellWord, visible, withFacts } from '../errors/index.ts'
import { acceptChanges } from './accept-request.ts'
import { writtenOrigin } from '../match/address.ts'
import type { Drift, DriftClass } from '../match/types.ts'
import type { Tape } from '../tape/index.ts'
import { acceptedAtText, stepsText } from './steps-text.ts'

/** One change of what models are asked, at every step that has it. */
export interface ChangedQuestion {
  /** What an acceptance names. */
  readonly key: string
  readonly class: DriftClass
  /** For people: `system prompt`, `tool refund`. */
  readonly part: string
  /** Numbers of the steps, 1-based. */
  readonly steps: readonly number[]
  /** The change as a word diff. */
  readonly words: string
  /** Digest of the recorded part, and of the part as it is now. */
  readonly was: string
  readonly now: string
  /** It belongs to the conversation of this one run: it is never accepted together with others. */
  readonly isData?: true
  /** `file:line:column` of the first request that has it. */
  readonly site?: string
  /** Of the class `endpoint`: the recorded host and the one asked now, such as `https://api.openai.com`. */
  readonly hosts?: readonly [recorded: string, now: string]
  /** A service or a process was asked, and no model. */
  readonly isOfNoModel?: true
  /** The only steps at which it was accepted; empty: it was accepted for other cases or tapes. */
  readonly acceptedAt?: readonly number[]
}

/** Drift by change, in the order of the first steps that show it: what a change is the cause of comes behind it. */
export function changedQuestions(drift: readonly Drift[]): readonly ChangedQuestion[] {
  const byKey = Map.groupBy(drift, ({ key }) => key)
  const questions = [...byKey.values()].flatMap((same) => {
    const [first] = same
    return first === undefined ? [] : [questionOf(first, same)]
  })
  return questions.sort((a, b) => Math.min(...a.steps) - Math.min(...b.steps))
}

function questionOf(first: Drift, same: readonly Drift[]): ChangedQuestion {
  const { key, class: name, part, words, was, now, isData } = first
  const site = same.find((one) => one.site !== undefined)?.site
  return {
    key,
    class: name,
    part,
    steps: [...new Set(same.map(({ stepNumber }) => stepNumber))],
    words,
    was,
    now,
    ...(isData && { isData }),
    ...(site !== undefined && { site }),
    ...hostsOf(first),
    ...(isOfNoModel(first) && { isOfNoModel: true }),
  }
}

const ofNoModel: ReadonlySet<string> = new Set(['accept', 'content-encoding', 'cwd'])

/** What a model is sent is not compared there: a service or a process was asked. */
function isOfNoModel({ class: name, path }: Drift): boolean {
  return name === 'headers' && (ofNoModel.has(path) || path.startsWith('env.'))
}

/** Both hosts, where that is all that is another one. */
function hostsOf({ class: name, recorded, live }: Drift): Pick<ChangedQuestion, 'hosts'> {
  const [before, now] = [writtenOrigin(recorded), writtenOrigin(live)]
  return name === 'endpoint' && before !== '' && now !== '' && before !== now ? { hosts: [before, now] } : {}
}

/** Who was asked, and how to accept it. */
export interface UnprovenFacts {
  /** Id of a case; absent for a hand-written test or a bare tape. */
  readonly caseId?: string
  /** The tape, where it was replayed by itself: no case and no test has its questions. */
  readonly bare?: Pick<Tape, 'header' | 'close'>
  /** The case is of an incident that is not fixed yet. Default: it is not. */
  readonly isKnownBad?: boolean
  readonly tape: string
  /** Acceptances that do not count any more, by the key of their change. Default: none. */
  readonly expired?: ReadonlyMap<string, string>
}

/** Changes that are shown one by one. */
const mostShown = 5

/** The first ones, in their order. Where there are more, those of data go before others: each is accepted by itself. */
function shownOf(questions: readonly ChangedQuestion[]): readonly ChangedQuestion[] {
  const byWeight = questions.toSorted((a, b) => Number(b.isData === true) - Number(a.isData === true))
  const shown = new Set(byWeight.slice(0, mostShown))
  return questions.filter((one) => shown.has(one))
}

/**
 * The questions to models changed, and the agent did all it did before.
 *
 * @param questions - at least one
 */
export function unprovenError(
  questions: readonly ChangedQuestion[],
  { caseId, bare, isKnownBad = false, tape, expired }: UnprovenFacts,
): HarvestError {
  const site = questions.find((one) => one.site !== undefined)?.site
  const steps = [...new Set(questions.flatMap((one) => one.steps))].sort((a, b) => a - b)
  const lapsed = questions.map(({ key }) => expired?.get(key)).find((text) => text !== undefined)
  const before = lapsed ?? acceptedOfThese(questions)
  const hosts = questions.flatMap((one) => (one.hosts === undefined ? [] : [one.hosts]))
  return new HarvestError('HARVEST_UNPROVEN', {
    what: headline(questions),
    where: {
      ...(caseId === undefined ? { tape } : { case: caseId }),
      asked: stepsText(steps),
      ...(site !== undefined && { at: site }),
      ...(before !== undefined && { accepted: before }),
    },
    detail: changesText(questions),
    why: 'The agent did the same with the recorded answers, but the new question was not asked.',
    fix: [
      ...(isKnownBad ? [`if the agent is fixed:  npx vitest-harvest fix ${shellWord(caseId ?? '')}`] : []),
      ...acceptance(questions, { caseId, bare }),
      ...hosts.map(
        ([recorded, now]) =>
          `if both are the same service:  hosts: { ${quoted(recorded)}: [${quoted(now)}] } in harvest()`,
      ),
      ...(caseId === undefined || questions.every((one) => one.isOfNoModel)
        ? []
        : [`to ask the model:  npx vitest-harvest test ${shellWord(caseId)} --prove`]),
      // Nothing but its tape says how a program is replayed.
      ...(bare?.header.command === undefined
        ? [`to exclude such changes from the verdict:  ${reportPolicy(questions)}`]
        : []),
    ],
  })
}

/** Where someone accepted these before, of several with their parts: `at step 4 only`. */
function acceptedOfThese(questions: readonly ChangedQuestion[]): string | undefined {
  const said = questions.flatMap(({ part, acceptedAt }) => {
    if (acceptedAt === undefined) return []
    const text = acceptedAtText(acceptedAt)
    return [questions.length === 1 ? text : `${neutralLine(part, 60)} ${text}`]
  })
  return said.length === 0 ? undefined : [...new Set(said)].slice(0, mostShown).join('; ')
}

/** The policy under which none of these is unproven: `drift: { instructions: 'report', tools: 'report' }`. */
export function reportPolicy(questions: readonly Pick<ChangedQuestion, 'class'>[]): string {
  const classes = [...new Set(questions.map((one) => one.class))]
  return `drift: { ${classes.map((name) => `${name}: 'report'`).join(', ')} }`
}

/**
 * A difference beside the questions that changed. What came first leads, and what follows from it is listed after: a question
 * that changed before the agent did something else is where a reader has to look.
 */
export function withQuestions(difference: HarvestError, questions: readonly ChangedQuestion[]): HarvestError {
  const [first] = questions
  if (first === undefined) return difference
  const { facts } = difference
  const shown = questions
    .slice(0, 3)
    .map(({ part, steps, words }) => `  ${neutralLine(part)} (${stepsText(steps)}): ${words}`)
  const more = questions.length > shown.length ? [`  … and ${questions.length - shown.length} more`] : []
  const detail = facts.detail === undefined ? [] : [facts.detail]
  const step = Math.min(...first.steps)
  const isOfModel = questions.some((one) => one.class !== 'endpoint' && !one.isOfNoModel)
  const asked = isOfModel ? 'what the model was asked' : 'what was asked'
  if (step >= stepOf(difference)) {
    const note = [`W${asked.slice(1)} changed as well: the cause may lie there.`, ...shown, ...more].join('\n')
    return withFacts(difference, { detail: [...detail, note].join('\n\n') })
  }
  const [owner, ...rows] = Object.entries(facts.where ?? {})
  const then = rows.map(([label, value]) => `  ${label}  ${visible(value).replaceAll('\n', '\n    ')}`)
  return withFacts(difference, {
    what: `The ${neutralLine(first.part, 60)} changed at step ${step}, and then the agent acted differently`,
    where: { ...(owner && Object.fromEntries([owner])), ...(first.site !== undefined && { at: first.site }) },
    detail: [
      [`First, ${asked} changed:`, ...shown, ...more].join('\n'),
      [`Then: ${facts.what}`, ...then].join('\n'),
      ...detail,
    ].join('\n\n'),
    fix: [
      `if that was not meant: change it back${first.site === undefined ? '' : ` at ${first.site}`}`,
      ...(facts.fix ?? []),
    ],
  })
}

/** The step at which a difference shows: of the end of a run it is behind all; where it is unknown no step is before it. */
function stepOf({ code, facts }: HarvestError): number {
  if (code === 'HARVEST_OUTCOME' || code === 'HARVEST_OUTCOME_KIND') return Infinity
  const step = /^\d+/.exec(facts.where?.['step'] ?? '')?.[0]
  if (step !== undefined) return Number(step)
  // A tool is called after the first step, if a model is asked there.
  return code === 'HARVEST_TRACE' ? 2 : 0
}

function quoted(text: string): string {
  return `'${neutralLine(text).replaceAll("'", '%27')}'`
}

function headline(questions: readonly ChangedQuestion[]): string {
  const parts = [...new Set(questions.map(({ part }) => part))]
  const [only] = questions
  if (questions.length === 1 && only?.isData)
    return `What step ${only.steps[0]} tells the model changed (${neutralLine(only.part)}), so the recorded answers prove nothing about it`
  if (parts.length === 1)
    return `The ${neutralLine(parts[0] ?? '')} changed, so the recorded answers prove nothing about it`
  const named = parts.slice(0, 3).map((part) => neutralLine(part))
  const more = parts.length > named.length ? ', …' : ''
  return `${questions.length} questions changed (${named.join(', ')}${more}), so the recorded answers prove nothing about them`
}

/** One block for each change. */
function changesText(questions: readonly ChangedQuestion[]): string {
  const shown = shownOf(questions).map(({ part, words, steps, isData, key }) => {
    const label = questions.length === 1 ? '' : `${neutralLine(part)}, ${stepsText(steps)}: `
    const data = isData ? `\n           this changes data, not instructions; key ${key}` : ''
    return `  changed  ${label}${words}${data}`
  })
  const more = questions.length - shown.length
  return [...shown, ...(more > 0 ? [`  … and ${more} more changes`] : [])].join('\n')
}

function acceptance(
  questions: readonly ChangedQuestion[],
  { caseId, bare }: { readonly [Key in 'bare' | 'caseId']: UnprovenFacts[Key] | undefined },
): readonly string[] {
  if (caseId !== undefined)
    return [`if you looked and it is meant:  npx vitest-harvest accept ${shellWord(caseId)} --reason "…"`]
  if (bare !== undefined) return stepsToAccept(bare)
  const shown = shownOf(questions)
  const meant = shown.length === questions.length ? 'it is meant' : 'what is shown is meant'
  return [`if you looked and ${meant}:  ${acceptChanges(shown.map(({ key }) => key))}`]
}

/**
 * How to accept a change of a tape that has no case: in the case that is made of it, which is red until then. A run that
 * threw went wrong; of one that returned only people know.
 *
 * @param then - what else is done about the case: ` and name it`
 */
export function stepsToAccept({ header, close }: Pick<Tape, 'header' | 'close'>, then = ''): readonly string[] {
  // These cannot be promoted.
  if (header.command !== undefined || close === undefined || close.incomplete !== undefined)
    return ['if you looked and it is meant, record the run again']
  const isUnknown = close.outcome.status === 'unknown'
  const promote = `npx vitest-harvest promote ${shellWord(header.id)} --as '<id>'${isUnknown ? ' --baseline' : ''}`
  const wrong = `${promote} --expect fail --unverified`
  return [
    ...(close.outcome.status === 'threw'
      ? [`make it a case: ${wrong}`]
      : [`if it went wrong, make it a case: ${wrong}`, `if it went right, make it a case: ${promote} --unverified`]),
    `accept the change there${then}: npx vitest-harvest accept '<id>' --reason "…"`,
  ]
}
