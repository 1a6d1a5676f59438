import { HarvestError } from '../errors/index.ts'
import type { ForkOptions } from '../fork/index.ts'
import type { TaskContext } from '../jobs/index.ts'

/** A module whose functions stand in for tools, by their names. */
export interface StandInsFile {
  /** Absolute path. */
  readonly file: string
  /** The export that holds them; absent: the exports of the module are the functions. */
  readonly export?: string
}

type StandIns = NonNullable<ForkOptions['tools']>

/** @throws HarvestError `HARVEST_FORK_TOOLS` when the module has no function there */
export async function loadStandIns(
  asked: 'tape' | 'live' | StandInsFile,
  importModule: TaskContext['importModule'],
): Promise<StandIns | undefined> {
  if (typeof asked === 'string') return undefined
  const module = await importModule(asked.file)
  const held: unknown = asked.export === undefined ? module : Reflect.get(module, asked.export)
  const entries = typeof held === 'object' && held !== null ? Object.entries(held) : []
  const functions = entries.filter((entry): entry is [string, StandIns[string]] => typeof entry[1] === 'function')
  if (functions.length > 0) return Object.fromEntries(functions)
  throw new HarvestError('HARVEST_FORK_TOOLS', {
    what: 'The module of --tools has no function that stands in for a tool',
    where: { file: asked.file, ...(asked.export === undefined ? {} : { export: asked.export }) },
    fix: ['export one by the name of the tool: export const refund = async ({ amount }) => ({ refunded: amount })'],
  })
}
