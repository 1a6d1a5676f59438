import { parseExpectation } from '../../blame/expectation.ts'
import { requireKnownNames } from '../../blame/known-names.ts'
import type { ForkSource } from '../../blame/types.ts'
import { HarvestError } from '../../errors/index.ts'
import { families, type FamilyName } from '../../faults/families.ts'
import { type EngineDiagnosis, type Engine, nothing } from '../grid/diagnosis.ts'
import { scoreTape, type TapeScore } from '../grid/score.ts'
import { type AgentChange, ledgerAgent } from './agent.ts'
import { isNoisy } from './cells.ts'
import { pickOf } from './chance.ts'
import { type PlantedRun, plantRun, type Stage } from './stage.ts'

/** One planted run and what was said about it. */
export interface MeasuredRun {
  readonly family: FamilyName
  readonly seed: number
  readonly steps: number
  readonly score: TapeScore
  readonly said: EngineDiagnosis
  /** Requests that reached the model: the recorded run's, and those of its forks. */
  readonly requests: number
}

/** One run that is to be planted, recorded and blamed. */
export interface RunOrder {
  readonly family: FamilyName
  readonly seed: number
  /** About how many steps it has. */
  readonly steps: number
  /** Repairs are asked for as well. Default false. */
  readonly hasColumns?: boolean
}

/**
 * Plants a family, records the run, lets the engine blame it over real forks, and scores what it says as the engine level
 * is scored.
 */
export async function measureRun(
  stage: Stage,
  engine: Engine,
  { family, seed, steps, hasColumns = false }: RunOrder,
): Promise<MeasuredRun> {
  const run = await plantRun(stage, family, seed, steps)
  try {
    const { about, said } = await ask(stage, engine, run, { seed, hasColumns })
    return {
      family,
      seed,
      steps: run.source.positions.reduce((count, { steps: members }) => count + members.length, 0),
      score: scoreTape(about, said),
      said,
      requests: stage.server.callsOf(run.world),
    }
  } finally {
    stage.server.remove(run.world)
  }
}

interface Asked {
  readonly about: PlantedRun['about']
  readonly said: EngineDiagnosis
}

async function ask(
  stage: Stage,
  engine: Engine,
  run: PlantedRun,
  { seed, hasColumns }: { readonly seed: number; readonly hasColumns: boolean },
): Promise<Asked> {
  const { family, about, source } = run
  const { answer } = families.find(({ name }) => name === family) ?? {}
  if (answer === 'divergence') return askForDivergence(stage, run, seed)
  if (family === 'F8.pinned_id_mismatch') return { about, said: await askForRefusal(stage, run) }
  if (family === 'F7.mistyped_question') return { about: nothingToFind(about), said: askMistyped(run, seed) }
  const asks = family === 'F7.no_op_mutation' || family === 'F7.identical_response' ? 'mutations' : 'run'
  const forked = family === 'F7.identical_response' ? { ...source, ...inert(source) } : source
  const { counted, ofMembers } = countMembers(asks === 'mutations' ? withoutEffect(forked) : forked)
  const said = await engine(counted, {
    asks,
    hasColumns,
    sweeps: false,
    asksEarlier: false,
    isScripted: !isNoisy(family),
  })
  // An oracle that disagrees with itself was found out: nothing is said, which is right.
  if (answer === 'refused')
    return { about, said: said.said === 'undecidable' ? { ...nothing, forks: said.forks } : said }
  // Which step of a block it was is a question of its own, as the columns are.
  const members = ofMembers()
  return { about, said: { ...said, forks: said.forks - members, columnForks: said.columnForks + members } }
}

function countMembers(source: ForkSource): { readonly counted: ForkSource; ofMembers(): number } {
  let members = 0
  const draw: ForkSource['draw'] = (spec, signal) => {
    if (spec.only !== undefined) members++
    return source.draw(spec, signal)
  }
  return { counted: { ...source, draw }, ofMembers: () => members }
}

/** How many mutants that change nothing a position has. */
const mutantCount = 8

/** A mutation that changes nothing: the recorded answer, and what comes behind it resampled. */
function withoutEffect(source: ForkSource): ForkSource {
  return {
    ...source,
    mutants: () => mutantCount,
    draw: ({ mutated, ...spec }, signal) =>
      source.draw(
        mutated === undefined
          ? spec
          : { ...spec, keep: mutated.position + 1, seed: spec.seed * mutantCount + mutated.mutant },
        signal,
      ),
  }
}

/** The recorded answers, all of them. */
function inert(source: ForkSource): Pick<ForkSource, 'draw'> {
  return { draw: (spec, signal) => source.draw({ keep: source.positions.length, seed: spec.seed }, signal) }
}

const changes: Readonly<Partial<Record<FamilyName, AgentChange>>> = {
  'F10.code_change': 'code',
  'F10.prompt_change': 'prompt',
  'F10.tool_schema_change': 'schema',
}

/** Where the changed agent leaves the tape: forks that keep no more are judged, those that keep more are not. */
async function askForDivergence(stage: Stage, run: PlantedRun, seed: number): Promise<Asked> {
  const { world, source, family } = run
  const questions = source.positions.flatMap(({ isExogenous }, position) => (isExogenous ? [] : [position]))
  const from = pickOf(1, questions.length, world.id, seed, 'change')
  run.become(ledgerAgent(stage.sdk, world, { change: { from, to: changes[family] ?? 'code' } }))
  let [low, high] = [0, source.positions.length]
  let forks = 0
  const signal = new AbortController().signal
  while (high - low > 1) {
    const keep = (low + high) >> 1
    const { grade } = await source.draw({ keep, seed: 0 }, signal)
    forks++
    if (grade === 'undefined') high = keep
    else low = keep
  }
  const right = questions[from] ?? -1
  const curve = [...source.positions.map((_, keep) => (keep <= right ? 1 : 0)), 0]
  const truth = {
    curve,
    commitment: right,
    commitments: [right],
    drop: 1,
    columns: { necessary: [], sufficient: [], repairSets: [] },
  }
  const said: EngineDiagnosis = { ...nothing, said: 'confirmed', named: [low], ranking: [low], forks }
  return { about: { truth, decoys: [], isPassing: false, isExact: true }, said }
}

function nothingToFind(about: PlantedRun['about']): PlantedRun['about'] {
  return { ...about, isPassing: true }
}

/** Names as people mistype them: letters swapped, one missing, one twice, another case. */
const slips: readonly ((name: string) => string)[] = [
  (name) => `${name[1]}${name[0]}${name.slice(2)}`,
  (name) => name.slice(0, -1),
  (name) => `${name}${name.at(-1)}`,
  (name) => name.toUpperCase(),
]

/** A question about a tool or an argument that is mistyped has to be refused before anything is asked. */
function askMistyped({ tape }: PlantedRun, seed: number): EngineDiagnosis {
  const slip = slips[pickOf(0, slips.length, tape.header.id, seed, 'slip')] ?? String
  const isArgument = pickOf(0, 2, tape.header.id, seed, 'where') === 1
  const asked = isArgument ? `read_entry(${slip('entry')}: 1)` : `${slip('read_entry')}(*)`
  try {
    requireKnownNames([parseExpectation(asked, '--ok')], { tapes: [tape] })
  } catch (error) {
    if (HarvestError.is(error, 'HARVEST_ORACLE_EXPECTATION')) return nothing
    throw error
  }
  return { ...nothing, said: 'unresolved' }
}

/** The agent asks another model now than the tape was made with: nothing may be said without a yes. */
async function askForRefusal(stage: Stage, run: PlantedRun): Promise<EngineDiagnosis> {
  run.become(ledgerAgent(stage.sdk, { ...run.world, model: 'ledger-2' }))
  try {
    await run.source.draw({ keep: 0, seed: 0 }, new AbortController().signal)
  } catch (error) {
    if (HarvestError.is(error, 'HARVEST_CROSS_VERSION')) return nothing
    throw error
  }
  return { ...nothing, said: 'unresolved' }
}
