import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { HarvestError, neutralLine } from '../errors/index.ts'
import { isMap, parseJson } from '../json/canonical.ts'

/** Models that are no longer offered: id → the day it ends, ISO 8601; empty text when unknown. */
export type Retired = ReadonlyMap<string, string>

/**
 * Models someone said are retired: those named on the command line, and those of `models.json` in the recordings,
 * `{ "retired": { "model-id": "2026-06-01" } }`.
 *
 * @throws HarvestError `HARVEST_CLI_MODELS` when that file says something else
 */
export function readRetired(recordings: string, named: string | undefined): Retired {
  const ids = (named ?? '').split(',').map((id) => id.trim())
  const typed = ids.filter((id) => id !== '').map((id): [string, string] => [id, ''])
  const file = join(recordings, 'models.json')
  if (!existsSync(file)) return new Map(typed)
  const value = parseJson(readFileSync(file, 'utf8'))
  const retired = isMap(value) && Object.keys(value).join() === 'retired' ? value['retired'] : undefined
  if (!isMap(retired)) throw malformed(file, 'it is not { "retired": { … } }')
  const listed = Object.entries(retired).map(([id, day]): [string, string] => {
    if (typeof day === 'string' && isDay(day)) return [id, day]
    throw malformed(
      file,
      `${neutralLine(id, 60)}: ${neutralLine(JSON.stringify(day), 40)} is no day such as "2026-06-01"`,
    )
  })
  return new Map([...listed, ...typed])
}

function isDay(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text))
}

function malformed(file: string, why: string): HarvestError {
  return new HarvestError('HARVEST_CLI_MODELS', {
    what: 'Invalid list of retired models',
    where: { file, because: why },
    fix: ['write it like this: { "retired": { "gpt-4-0613": "2026-06-01" } }'],
  })
}
