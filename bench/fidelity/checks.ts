import { defaultPolicy } from '../../src/match/drift-policy.ts'
import { isDeepStrictEqual } from 'node:util'
import type { Replayed } from '../peers/tool.ts'
import { edited, secrets } from './agents.ts'

/** Everything there is to know about one run of one recorder. */
export interface Facts {
  readonly recorded: Replayed<unknown>
  readonly replayed: Replayed<unknown>
  /** All text it left on disk, base64 decoded as well. */
  readonly onDisk: string
}

/** Something a regression harvester must do. */
export interface Check {
  readonly what: string
  /** The runs it looks at. */
  readonly runs: readonly string[]
  /** Why it fails; `undefined` when it passes. */
  fails(facts: (run: string) => Facts): string | undefined
}

/** The nineteen, in the order they are always told in. */
export const checks: readonly Check[] = [
  check('a JSON answer is the recorded one, byte for byte', 'json', differs),
  check('a stream of eight pieces stays eight, recorded and replayed', 'pieces', (facts) => {
    const [recorded, replayed] = [countOf(facts.recorded), countOf(facts.replayed)]
    return recorded === 8 && replayed === 8 ? differs(facts) : `${recorded} → ${replayed}`
  }),
  check('a changed system prompt is refused or reported', 'system', unnoticed),
  check('a changed tool schema is refused or reported', 'tools', unnoticed),
  check('a question changed without changing its length does not pass', 'user', unflagged),
  {
    what: '“order 12” and “order 123” are kept apart',
    runs: ['twoOrders', 'oneOrder'],
    fails: (facts) => differs(facts('twoOrders')) ?? unflagged(facts('oneOrder')),
  },
  check('two calls that changed places are flagged', 'swapped', unflagged),
  check('a call that is not made any more is flagged', 'missing', unflagged),
  check('one repeat more is flagged', 'extra', unflagged),
  check('the same question three times gets its first, second and third answer', 'thrice', (facts) => {
    const answers = new Set(valueOf(facts.recorded) as readonly string[])
    return answers.size === 3 ? differs(facts) : `${answers.size} answers when recording`
  }),
  check('three parallel calls come back in the recorded order', 'parallel', (facts) => {
    const isRight = isDeepStrictEqual(valueOf(facts.recorded), ['after 5', 'after 180', 'after 360'])
    return isRight ? differs(facts) : 'another order when recording'
  }),
  check('an authorization header is not on disk', 'secrets', ({ onDisk, ...facts }) =>
    onDisk.includes(secrets.header) ? 'on disk' : differs({ ...facts, onDisk }),
  ),
  check('a key and an e-mail address in a body are not on disk', 'secrets', ({ onDisk, ...facts }) => {
    const left = [secrets.body, secrets.email].filter((secret) => onDisk.includes(secret))
    return left.length > 0 ? `${left.length} of 2 on disk` : differs({ ...facts, onDisk })
  }),
  check('node:http, a raw socket and a child process are blocked', 'escapes', ({ replayed }) => {
    const through = valueOf(replayed)
    if (!Array.isArray(through)) return complaint(replayed)
    return through.length === 0 ? undefined : `${through.join(', ')} got out`
  }),
  check('a recorded answer that was edited is refused', 'edited', (facts) =>
    JSON.stringify(valueOf(facts.recorded)).includes(edited.original) ? unflagged(facts) : complaint(facts.recorded),
  ),
  check('a connection lost in a stream is lost again', 'loses', (facts) => {
    const value = valueOf(facts.recorded) as { seen?: readonly string[]; ended?: string } | undefined
    if (value?.ended !== 'TypeError') return `when recording: ${value?.ended ?? complaint(facts.recorded)}`
    return differs(facts)
  }),
  check('clock and ids in a prompt are the recorded ones', 'clock', differs),
  check('a 429 and then a 200 are that again', 'busy', (facts) => {
    // Whether `retry-after` comes through is another question: it may be lost.
    const seen = valueOf(facts.recorded)
    const isRight = Array.isArray(seen) && isDeepStrictEqual([seen[0], ...seen.slice(2)], [429, 200, null, 'welcome'])
    return isRight ? differs(facts) : `when recording: ${JSON.stringify(valueOf(facts.recorded))}`
  }),
  check('a stream the agent leaves is left again', 'leaves', (facts) => {
    const value = valueOf(facts.recorded) as { seen?: readonly string[]; ended?: string } | undefined
    if (value?.ended !== 'AbortError') return `when recording: ended ${value?.ended ?? complaint(facts.recorded)}`
    if (value.seen?.join('').includes('piece 8')) return 'when recording: all pieces came at once'
    return differs(facts)
  }),
]

function check(what: string, run: string, fails: (facts: Facts) => string | undefined): Check {
  return { what, runs: [run], fails: (facts) => fails(facts(run)) }
}

/** The replay must give what was recorded, and have nothing to say. */
function differs({ recorded, replayed }: Facts): string | undefined {
  if (!('value' in recorded.outcome)) return `not recorded: ${complaint(recorded)}`
  if (!('value' in replayed.outcome)) return complaint(replayed)
  if (!isDeepStrictEqual(recorded.outcome.value, replayed.outcome.value)) return 'another result'
  if (replayed.complaints.length > 0) return complaint(replayed)
  return replayed.reported.length > 0 ? `reported: ${replayed.reported.map(({ as }) => as).join(', ')}` : undefined
}

/** The test must not be green: the replay fails, or says of a question that its answer proves nothing. */
function unflagged({ recorded, replayed }: Facts): string | undefined {
  if (!('value' in recorded.outcome)) return `not recorded: ${complaint(recorded)}`
  const isUnproven = replayed.reported.some(({ as }) => defaultPolicy[as] === 'unproven')
  return isUnproven || replayed.complaints.length > 0 ? undefined : 'silent'
}

/** The replay must fail or report something. */
function unnoticed(facts: Facts): string | undefined {
  return facts.replayed.reported.length > 0 ? undefined : unflagged(facts)
}

function valueOf({ outcome }: Replayed<unknown>): unknown {
  return 'value' in outcome ? outcome.value : undefined
}

function countOf(run: Replayed<unknown>): number {
  const value = valueOf(run)
  return Array.isArray(value) ? value.length : 0
}

function complaint({ complaints }: Replayed<unknown>): string {
  return (complaints[0] ?? 'nothing came of it').split('\n')[0]?.slice(0, 80) ?? ''
}
