import type { Vitest } from 'vitest/node'
import { acceptVariable, parseAcceptRequest } from '../replay/accept-request.ts'
import {
  chooseMode,
  parseFlag,
  parseMode,
  type UpdateChoice,
  type UpdateMode,
  updateVariable,
  unattended,
} from './update-mode.ts'
import { noReason, parseReason, reasonVariable } from './update-reason.ts'

type Environment = Readonly<Record<string, string | undefined>>

/**
 * What this run of Vitest was asked to do about recordings, by any of the spellings it lets through:
 * the variable that our command sets, `vitest run -- --update-recordings`, `vitest run --update=recordings`.
 *
 * `-u` alone does not count: whoever refreshes UI snapshots has not reviewed what the agents do.
 *
 * @throws HarvestError `HARVEST_UPDATE_REASON` when new behaviour is to be accepted and it is unknown why,
 */
export function requestedMode(vitest: Vitest, env: Environment): UpdateChoice {
  const { config } = vitest
  const afterDashes: readonly unknown[] = readList(config, '--')
  const flags = afterDashes.map((argument) => (typeof argument === 'string' ? parseFlag(argument) : undefined))
  const variable = env[updateVariable]
  const choice = chooseMode(
    [
      variable === undefined || variable === '' ? undefined : parseMode(variable, `${updateVariable}=${variable}`),
      flags.findLast((mode) => mode !== undefined),
      takeOverUpdate(vitest, env),
    ],
    env,
  )
  const reason = env[reasonVariable] ?? ''
  if (choice.mode === 'none' || (choice.mode === 'new' && reason === '')) return choice
  // Renewing pins accepts nothing: the reason stands beside what was accepted.
  if (reason === '' && choice.mode !== 'pins') throw noReason()
  if (choice.mode === 'pins') return choice
  const request = env[acceptVariable] ?? ''
  const accept = request === '' ? {} : { accept: parseAcceptRequest(request) }
  return { ...choice, ...accept, reason: parseReason(reason) }
}

/** `--update=recordings` also made Vitest rewrite its own snapshots; that was not meant, so it is put back. */
function takeOverUpdate(vitest: Vitest, env: Environment): UpdateMode | undefined {
  const { config } = vitest
  const asked: unknown = Reflect.get(config, 'update')
  const isOurs = asked === 'recordings' || (typeof asked === 'object' && asked !== null && 'recordings' in asked)
  if (!isOurs && taken.has(vitest)) return 'all'
  if (!isOurs) return undefined
  taken.add(vitest)
  const updateSnapshot = unattended(env) === undefined ? 'new' : 'none'
  for (const each of [config, ...vitest.projects.map((project) => project.config)]) {
    Reflect.set(each, 'update', false)
    each.snapshotOptions.updateSnapshot = updateSnapshot
  }
  return 'all'
}

const taken = new WeakSet<Vitest>()

function readList(config: object, key: string): readonly unknown[] {
  const value: unknown = Reflect.get(config, key)
  return Array.isArray(value) ? value : []
}
