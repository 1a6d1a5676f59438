import { blameFailedRun, blameMutations, blameRepairs } from '../../blame/index.ts'
import type { ForkSource, ForkSpec, Grade } from '../../blame/types.ts'

/**
 * The eleven cases of competing causes that tracefork is measured with, one to one: a run of seven answers, each of which
 * may carry a marker that all later ones see.
 *
 * `necessary`: blame commits the run to this place, or repairing it alone saves the run. `sufficient`: changed alone in a run
 * that went well, it makes it fail.
 *
 * @see https://github.com/pratik916/tracefork `competing_faults.py` and `bench.py`
 */
export interface CompetingCase {
  readonly name: string
  readonly scenario: Scenario
  /** Place in the run, from 0. */
  readonly place: number
  readonly necessary: boolean
  readonly sufficient: boolean
}

type Scenario = 'root and echo' | 'gate and payload' | 'all' | 'gate and payload at once'

type Role = 'root' | 'echo' | 'gate' | 'payload'

const roles: readonly (Role | undefined)[] = ['root', 'echo', undefined, 'gate', 'payload', undefined, undefined]

const active: Readonly<Record<Scenario, readonly Role[]>> = {
  'root and echo': ['root', 'echo'],
  'gate and payload': ['gate', 'payload'],
  all: ['root', 'echo', 'gate', 'payload'],
  'gate and payload at once': ['gate', 'payload'],
}

export const competingCases: readonly CompetingCase[] = [
  { name: 'root', scenario: 'root and echo', place: 0, necessary: true, sufficient: true },
  { name: 'downstream_echo', scenario: 'root and echo', place: 1, necessary: false, sufficient: true },
  { name: 'neutral_decoy_root_echo_run', scenario: 'root and echo', place: 2, necessary: false, sufficient: false },
  { name: 'gate_half_of_conjunction', scenario: 'gate and payload', place: 3, necessary: true, sufficient: false },
  { name: 'payload_completes_conjunction', scenario: 'gate and payload', place: 4, necessary: true, sufficient: false },
  {
    name: 'neutral_decoy_gate_payload_run',
    scenario: 'gate and payload',
    place: 2,
    necessary: false,
    sufficient: false,
  },
  { name: 'overdetermined_gate', scenario: 'all', place: 3, necessary: false, sufficient: false },
  { name: 'overdetermined_payload', scenario: 'all', place: 4, necessary: false, sufficient: false },
  { name: 'root_under_competing_load', scenario: 'all', place: 0, necessary: true, sufficient: true },
  {
    name: 'concurrent_gate_completes_conjunction',
    scenario: 'gate and payload at once',
    place: 3,
    necessary: true,
    sufficient: false,
  },
  {
    name: 'concurrent_payload_completes_conjunction',
    scenario: 'gate and payload at once',
    place: 4,
    necessary: true,
    sufficient: false,
  },
]

/** A case, and what blame says of it. */
export interface CompetingResult extends CompetingCase {
  readonly saidNecessary: boolean
  readonly saidSufficient: boolean
  readonly isRight: boolean
}

/** @param tail - as a script, as tracefork has it; or as models, which may answer otherwise each time */
export async function scoreCompeting(tail: 'deterministic' | 'noisy'): Promise<readonly CompetingResult[]> {
  const results: CompetingResult[] = []
  for (const [scenario, cases] of Map.groupBy(competingCases, (one) => one.scenario)) {
    const { necessary, sufficient } = await readingsOf(scenario, tail)
    for (const one of cases) {
      const [saidNecessary, saidSufficient] = [necessary.has(one.place), sufficient.has(one.place)]
      const isRight = saidNecessary === one.necessary && saidSufficient === one.sufficient
      results.push({ ...one, saidNecessary, saidSufficient, isRight })
    }
  }
  return results
}

/** The places, from 0, of what is named. */
async function readingsOf(scenario: Scenario, tail: 'deterministic' | 'noisy') {
  const failed = sourceOf(scenario, 'bad')
  const { verdict } = await blameFailedRun(failed, { tail })
  const { necessary } = await blameRepairs(failed, { tail })
  const { verdict: changed } = await blameMutations(sourceOf(scenario, 'ok'), { tail })
  const stepsAt = (positions: readonly number[]): readonly number[] =>
    positions.flatMap((position) => failed.positions[position]?.steps ?? []).map((step) => step - 1)
  const commitments = verdict.kind === 'confirmed' ? verdict.commitments : []
  // Of steps under way at once those that decided alone.
  const committed = commitments.flatMap(({ members, position }) =>
    members === undefined
      ? stepsAt([position])
      : members.flatMap(({ step, isConfirmed }) => (isConfirmed ? [step - 1] : [])),
  )
  const responsible = changed.kind === 'responsible' ? changed.positions.map(({ position }) => position) : []
  return { necessary: new Set([...committed, ...stepsAt(necessary)]), sufficient: new Set(stepsAt(responsible)) }
}

/** Forks of the run in which all markers are, or of the one that went well without any. */
function sourceOf(scenario: Scenario, recorded: Grade): ForkSource {
  const blocks =
    scenario === 'gate and payload at once' ? [[0], [1], [2], [3, 4], [5], [6]] : roles.map((_, at) => [at])
  const marked = (place: number): boolean => {
    const role = roles[place]
    return role !== undefined && active[scenario].includes(role)
  }
  return {
    positions: blocks.map((block) => ({
      steps: block.map((place) => place + 1),
      label: block.map((place) => roles[place] ?? 'neutral').join(' and '),
      isExogenous: true,
    })),
    recorded,
    repairs: 'the answer without a marker',
    splits: true,
    mutants: (position) => (blocks[position] ?? []).filter((place) => place < 6).length,
    expect: ({ keep }) => ({ modelCalls: blocks.length - keep }),
    draw: async (spec) => {
      const markers = run(spec, blocks, (place) => recorded === 'bad' && marked(place), marked)
      const grade = fails(markers) ? 'bad' : 'ok'
      return { grade, modelCalls: blocks.length - spec.keep, fingerprint: [...markers].join() }
    },
  }
}

/** The markers that the last answer sees. */
function run(
  { keep, pinned = [], repaired = [], mutated, only }: ForkSpec,
  blocks: readonly (readonly number[])[],
  isRecorded: (place: number) => boolean,
  isMarked: (place: number) => boolean,
): ReadonlySet<Role> {
  const seen = new Set<Role>()
  for (const [position, block] of blocks.entries()) {
    const before = new Set(seen)
    for (const [member, place] of block.entries()) {
      const role = roles[place]
      if (role === undefined) continue
      // An echo is asked for what it says by the one before it: without that it is asked otherwise, and no pin holds it.
      const isAsked = role !== 'echo' || before.has('root')
      const isHeld =
        position < keep ||
        (pinned.includes(position) && isAsked) ||
        (position === keep && only !== undefined && !only.includes(place + 1))
      const isChanged = mutated?.position === position && mutated.mutant === member
      if (isChanged ? isMarked(place) : isHeld && !repaired.includes(position) && isRecorded(place)) seen.add(role)
    }
  }
  return seen
}

/** The one rule by which its runs fail. */
function fails(markers: ReadonlySet<Role>): boolean {
  return markers.has('root') || markers.has('echo') || (markers.has('gate') && markers.has('payload'))
}
