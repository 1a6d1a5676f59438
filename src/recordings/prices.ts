import { isMap } from '../json/canonical.ts'
import { join } from 'node:path'
import { HarvestError, nearestWord, neutralLine } from '../errors/index.ts'
import type { Price, PriceTable } from '../providers/index.ts'
import { readRegularFile } from './files.ts'

/**
 * The price table of a project, `prices.json` in its recordings: model id → US dollars per million tokens.
 *
 * @returns `undefined` without one: the list prices of this package count then
 * @throws HARVEST_RECORDINGS_PRICES with the entry that is wrong
 */
export function readPrices(recordings: string): PriceTable | undefined {
  const file = join(recordings, 'prices.json')
  let text: string
  try {
    text = readRegularFile(file).toString('utf8')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw wrong(file, message, error)
  }
  let table: unknown
  try {
    table = JSON.parse(text)
  } catch (error) {
    throw wrong(file, (error as SyntaxError).message, error)
  }
  const problem = problemOf(table)
  if (problem !== undefined) throw wrong(file, problem)
  return table as PriceTable
}

/** Absent, they cost what `input` does. */
const optional = ['cachedInput', 'cacheWrite']
const fields: readonly (keyof Price)[] = ['input', 'output', 'cachedInput', 'cacheWrite']

function problemOf(table: unknown): string | undefined {
  if (!isMap(table)) return 'it is not an object'
  for (const [model, price] of Object.entries(table)) {
    const name = neutralLine(model, 60)
    if (!isMap(price)) return `${name} has no { "input": …, "output": … }`
    const unknown = Object.keys(price).find((key) => !fields.includes(key as keyof Price))
    if (unknown !== undefined) {
      const near = nearestWord(unknown, fields)
      return `${name}.${neutralLine(unknown, 40)} is not known${near === undefined ? '' : `; did you mean ${near}?`}`
    }
    const bad = fields.find((key) => !isDollars(price[key]) && !(optional.includes(key) && price[key] === undefined))
    if (bad !== undefined) return `${name}.${bad} is not a number of dollars`
  }
  return undefined
}

function isDollars(value: unknown): boolean {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0
}

function wrong(file: string, problem: string, cause?: unknown): HarvestError {
  return new HarvestError(
    'HARVEST_RECORDINGS_PRICES',
    {
      what: 'Invalid price table',
      where: { file, problem: neutralLine(problem, 200) },
      why: 'Costs are never estimated from an invalid table.',
      fix: ['write US dollars per million tokens: { "gpt-5*": { "input": 1.25, "output": 10, "cachedInput": 0.125 } }'],
    },
    { cause },
  )
}
