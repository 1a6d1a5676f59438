import { accessOf } from '../fork/access.ts'
import path from 'node:path'
import type fc from 'fast-check'
import { HarvestError } from '../errors/index.ts'
import { controlOptionsOf } from '../fork/index.ts'
import { type Task, type TaskContext } from '../jobs/index.ts'
import type { Json } from '../tape/index.ts'
import { chaos } from './chaos.ts'
import type { FailureClass } from './ending.ts'
import type { FaultSchedule } from './types.ts'

/** What the task `chaos` is asked for; see the options of `chaos()`. */
export interface ChaosTaskOptions {
  readonly faults: readonly string[]
  readonly runs?: number
  readonly seed?: number
  readonly path?: string
  readonly smallest?: boolean
  readonly timeMs?: number
  readonly fail?: readonly FailureClass[]
  readonly reads?: readonly string[]
  /** File and export of an arbitrary of the user's own; replaces `faults`. */
  readonly arbitrary?: { readonly file: string; readonly export: string }
  /** Keys of agents in the plugin's options that can run instead. */
  readonly variants?: readonly string[]
  readonly examples?: readonly FaultSchedule[]
  /** What the case says its agent returns. */
  readonly expected?: Json
}

/** Runs an agent of the config under faults, with its modules fresh in every run. */
export const chaosTask: Task = async (given, context) => {
  const { arbitrary, faults, variants = [], ...options } = given as unknown as ChaosTaskOptions
  for (const name of variants) await requireAgent(name, context)
  return (await chaos(context.tape, {
    ...options,
    faults: arbitrary === undefined ? faults : await loadArbitrary(arbitrary, context),
    load: (variant) => context.load(variant),
    variants: Object.fromEntries(variants.map((name) => [name, undefined])),
    timeoutMs: context.timeoutMs,
    control: await controlOptionsOf(context),
    signal: context.signal,
    ...accessOf(context.replay),
    onRun: (told) => context.say({ ...told } as unknown as Json),
  })) as unknown as Json
}

/** An agent that is not there would be missed only by the run that draws it; one that cannot be loaded is a result of that. */
async function requireAgent(name: string, context: TaskContext): Promise<void> {
  await context.load(name).catch((error: unknown) => {
    if (HarvestError.is(error, 'HARVEST_AGENT_UNKNOWN')) throw error
  })
}

async function loadArbitrary(
  { file, export: name }: NonNullable<ChaosTaskOptions['arbitrary']>,
  context: TaskContext,
): Promise<fc.Arbitrary<FaultSchedule>> {
  const exports = await context.importModule(file)
  const found: unknown = Reflect.get(exports, name)
  // A function gets the tape: what can go wrong depends on its steps.
  const made: unknown = typeof found === 'function' ? Reflect.apply(found, undefined, [context.tape]) : found
  if (isArbitrary(made)) return made
  throw new HarvestError('HARVEST_CHAOS_ARBITRARY', {
    what: 'The module does not export a fast-check arbitrary of this name',
    where: { file: path.relative(process.cwd(), file), export: name, known: Object.keys(exports).sort().join(', ') },
    fix: ['export one, or a function of the tape that returns one: export const mine = (tape) => faultSchedule(tape)'],
  })
}

function isArbitrary(value: unknown): value is fc.Arbitrary<FaultSchedule> {
  return typeof value === 'object' && value !== null && 'generate' in value && 'shrink' in value
}
