import { createHash } from 'node:crypto'
import { resolve } from 'node:path'
import type { Json } from '../tape/types.ts'
import { codeOf } from './oracle-files.ts'
import type { Case, ProvenChange } from './types.ts'

const dayMs = 86_400_000

/** Those of them that still count: all, where there is no limit. */
export function stillCounted<T extends { readonly at?: string }>(
  entries: readonly T[],
  maxDays: number | undefined,
  now = Date.now(),
): readonly T[] {
  return maxDays === undefined ? entries : entries.filter(({ at }) => isInTime(at, maxDays, now))
}

/**
 * Whether what a person accepted or a proof showed still counts: not for longer than its days, and not when it says no day, or
 * one to come, for that would count for ever.
 *
 * @param at - ISO 8601
 */
export function isInTime(at: string | undefined, maxDays: number, now: number): boolean {
  const age = now - Date.parse(at ?? '')
  // On another machine it may be a day later.
  return age <= maxDays * dayMs && age >= -dayMs
}

/** What the proofs of a case are held against. */
export interface ProofFacts {
  /** Steps of every change the replay met that is not green by itself, by key. */
  readonly asked: ReadonlyMap<string, readonly number[]>
  /** Models it asked, see {@link modelText}. */
  readonly model: string
  readonly maxDays: number
  readonly now: number
}

/**
 * The proofs of a case that count: of the same change together with the same others, each at the same steps, of the same
 * models, judged by the same words or function, and not too old.
 */
export function validProofs(kase: Case, { asked, model, maxDays, now }: ProofFacts): readonly ProvenChange[] {
  const { proven = [] } = kase
  if (proven.length === 0) return []
  const judge = judgedBy(kase)
  const steps = stepsDigest(asked)
  return proven.filter((proof) => {
    const together = [proof.key, ...(proof.with ?? [])]
    return (
      together.length === asked.size &&
      together.every((key) => asked.has(key)) &&
      proof.model === model &&
      proof.judgedBy === judge &&
      (proof.steps === undefined || proof.steps === steps) &&
      isInTime(proof.at, maxDays, now)
    )
  })
}

/** The steps of changes, as a proof says them: of one prompt at another step a model was asked something else. */
export function stepsDigest(asked: ReadonlyMap<string, readonly number[]>): string {
  const sorted = [...asked].map(([key, steps]): [string, number[]] => [key, steps.toSorted((a, b) => a - b)])
  return digest([sorted.sort(([one], [other]) => (one < other ? -1 : 1))])
}

/** Models as a proof names them. */
export function modelText(models: readonly string[]): string {
  return [...new Set(models)].sort().join(', ')
}

/**
 * What says which runs of a case are good, with a digest of it: the function the case names, with the files that it imports
 * by relative paths, or its `ok` and `bad`, or its outcome and baseline.
 *
 * @returns ends with the digest, so that an edit of any of it makes it another one
 */
export function judgedBy(kase: Case): string {
  const { expect, oracle, ok, bad, outcome, baseline, match } = kase
  if (oracle !== undefined) {
    const file = resolve(oracle.slice(0, oracle.lastIndexOf('#')))
    const [own, ...imported] = codeOf(file)
    return `${oracle} ${digest([expect, oracle, own?.[1] ?? '', ...imported])}`
  }
  if (saysGood(kase)) return `ok and bad ${digest([expect, ok, bad])}`
  return `outcome and baseline ${digest([expect, outcome, baseline, match])}`
}

/** Whether `ok` and `bad` of a case say which runs are good. */
export function saysGood({ ok = [], bad = [] }: Pick<Case, 'bad' | 'ok'>): boolean {
  return ok.length + bad.length > 0
}

function digest(parts: readonly (Json | object | undefined)[]): string {
  // As JSON: no two lists have one spelling.
  const text = JSON.stringify(parts.map((part) => part ?? null))
  return `sha256-${createHash('sha256').update(text).digest('base64url').slice(0, 16)}`
}
