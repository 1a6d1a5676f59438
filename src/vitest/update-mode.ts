import { HarvestError } from '../errors/index.ts'
import { unattended } from '../provenance/unattended.ts'
import type { AcceptRequest } from '../replay/accept-request.ts'

/** Files that one command names. More are named by their folder. */
export const mostFiles = 20

export { unattended } from '../provenance/unattended.ts'

/**
 * What a run may write into cases. `none`: nothing. `new`: a baseline where a case has none. `questions`: that changed
 * questions to models are accepted, and nothing else. `pins`: the pins of cases that are green by an acceptance or a proof,
 * and nothing else. `all`: questions and pins, and the new trace and outcome of cases that would fail by them.
 */
export type UpdateMode = 'none' | 'new' | 'questions' | 'pins' | 'all'
export const updateModes: readonly UpdateMode[] = ['none', 'new', 'questions', 'pins', 'all']

/** The mode of a run, and why it is less than what was asked for. */
export interface UpdateChoice {
  readonly mode: UpdateMode
  /** Why new behaviour is accepted; always there for `all`. */
  readonly reason?: string
  /** Which changed questions are accepted, where someone chose. */
  readonly accept?: AcceptRequest
  readonly refused?: { readonly asked: UpdateMode; readonly because: string }
}

type Environment = Readonly<Record<string, string | undefined>>

/** Set by the `vitest-harvest` command; anyone may set it. */
export const updateVariable = 'VITEST_HARVEST_UPDATE'

/**
 * Decides what a run may write. CI and coding agents write nothing, no matter what was asked, unless
 * `HARVEST_ALLOW_CI_UPDATE=1`: neither may bless its own regressions.
 *
 * @param asked - modes that were asked for, the most binding first
 */
export function chooseMode(asked: readonly (UpdateMode | undefined)[], env: Environment): UpdateChoice {
  const wanted = asked.find((mode) => mode !== undefined)
  const because = unattended(env)
  if (because === undefined || env['HARVEST_ALLOW_CI_UPDATE'] === '1') {
    return { mode: wanted ?? (because === undefined ? 'new' : 'none') }
  }
  if (wanted === undefined || wanted === 'none') return { mode: 'none' }
  return { mode: 'none', refused: { asked: wanted, because } }
}

/**
 * Reads the mode out of `--update-recordings`, `--update-recordings=new`, `--updateRecordings`, `--no-update-recordings`;
 * `undefined` for any other argument.
 *
 * @throws HarvestError `HARVEST_UPDATE_MODE` for a mode that is not known
 */
export function parseFlag(argument: string): UpdateMode | undefined {
  const match = /^--(no-)?update-?recordings(?:=(.*))?$/i.exec(argument)
  if (!match) return undefined
  return match[1] ? 'none' : parseMode(match[2] ?? 'all', argument)
}

/** @throws HarvestError `HARVEST_UPDATE_MODE` for a mode that is not known: a typo must not write, nor silently not write */
export function parseMode(value: string, where: string): UpdateMode {
  const mode = updateModes.find((known) => known === value)
  if (mode !== undefined) return mode
  throw new HarvestError('HARVEST_UPDATE_MODE', {
    what: `Invalid update mode: expected ${updateModes.join(', ')}`,
    where: { given: where },
    fix: updateModes.map((known) => `--update-recordings=${known}`),
  })
}
