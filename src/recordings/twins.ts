import { dirname, join } from 'node:path'
import type { Case, PlainHead } from '../cases/index.ts'
import { HarvestError } from '../errors/index.ts'
import { sameJson } from '../json/same.ts'
import { type Json, readTapeHeader, type Tape } from '../tape/index.ts'
import { casesWhere } from './cases.ts'

/** A case that checks what another one checks. */
export interface Twin {
  readonly id: string
  readonly file: string
  /** Its run was started with the same input too. */
  readonly isSameInput: boolean
}

/** Cases of the same agent that expect the same calls and the same outcome. */
export function twinsOf({ agent, expect, baseline, outcome }: Case, tape: Tape, recordings: string): readonly Twin[] {
  const wanted = [expect, baseline ?? null, outcome ?? null] as readonly Json[]
  const names = toolNames(baseline ?? [])
  // A tool that is expected stands in the text, unless an escape hides it.
  const mayBe = (head: PlainHead, text: string): boolean =>
    (head.agent ?? agent) === agent && (text.includes('\\') || names.every((name) => text.includes(name)))
  return casesWhere(recordings, (head, _file, text) => mayBe(head, text)).flatMap(({ file, case: other }) => {
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

function inputOf({ file, tape }: Case): Json | undefined {
  try {
    return readTapeHeader(join(dirname(file), tape)).input
  } catch (error) {
    // Its own test is red for a tape that cannot be read.
    if (HarvestError.is(error)) return undefined
    throw error
  }
}
