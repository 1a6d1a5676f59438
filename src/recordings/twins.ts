import { dirname, join } from 'node:path'
import { type Case, plainHead } from '../cases/index.ts'
import { HarvestError } from '../errors/index.ts'
import { sameJson } from '../json/same.ts'
import { type Json, readTapeHeader, type Tape } from '../tape/index.ts'
import { type CaseSummary, maySay } from './cases.ts'

/** A case that checks what another one checks. */
export interface Twin {
  readonly id: string
  readonly file: string
  /** Its run was started with the same input too. */
  readonly isSameInput: boolean
}

/** Whether the case of a text may check what this one does: what is expected stands in the text. */
export function mayBeTwin({ agent, baseline, outcome }: Case): (text: string) => boolean {
  const words = [...toolNames(baseline ?? []), ...wordsIn(outcome)]
  return (text) => words.every((word) => maySay(text, word)) && (plainHead(text).agent ?? agent) === agent
}

/** Those of these cases that are of the same agent and expect the same calls and the same outcome. */
export function twinsAmong(
  cases: readonly CaseSummary[],
  { agent, expect, baseline, outcome }: Case,
  tape: Tape,
): readonly Twin[] {
  const wanted = [expect, baseline ?? null, outcome ?? null] as readonly Json[]
  return cases.flatMap(({ file, case: other }) => {
    if (other === undefined || other.agent !== agent) return []
    const found = [other.expect, other.baseline ?? null, other.outcome ?? null] as readonly Json[]
    if (!sameJson(wanted, found)) return []
    return [{ id: other.id, file, isSameInput: sameJson(inputOf(other) ?? null, tape.header.input ?? null) }]
  })
}

/** The names of the tools that a baseline expects. */
function toolNames(baseline: Json): readonly string[] {
  if (Array.isArray(baseline)) return baseline.flatMap(toolNames)
  const name = typeof baseline === 'string' ? /^\w+/.exec(baseline)?.[0] : undefined
  return name === undefined ? [] : [name]
}

/** The keys of a value, and the first word of each text in it. */
function wordsIn(value: Json | undefined): readonly string[] {
  if (typeof value === 'string') return /^\w+/.exec(value) ?? []
  if (typeof value !== 'object' || value === null) return []
  const keys = Array.isArray(value) ? [] : Object.keys(value).flatMap((key) => wordsIn(key))
  return [...keys, ...Object.values(value).flatMap((one) => wordsIn(one))]
}

function inputOf({ file, tape }: Case): Json | undefined {
  try {
    return readTapeHeader(join(dirname(file), tape)).input
  } catch (error) {
    // Its own test is red for a tape that cannot be read.
    if (HarvestError.is(error)) return undefined
    throw error
  }
}
