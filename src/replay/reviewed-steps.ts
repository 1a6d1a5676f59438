import { canonicalJson, isGenerative, type ModelRequest, readModelCall } from '../providers/index.ts'
import { writtenOrigin } from '../match/address.ts'
import type { Drift } from '../match/types.ts'
import { type Json, type Step, stepsOf, type Tape } from '../tape/index.ts'
import { digestOfPart } from './change.ts'

/**
 * Whether a change shows at every step of a tape that could have it: then who reviewed it reviewed it everywhere. Where that
 * is unknown of a part, a step of the same kind could have it.
 *
 * @param same - all drift of one key
 */
export function isAtEveryStep(same: readonly Drift[], tape: Pick<Tape, 'events'>): boolean {
  const [first] = same
  // What belongs to no step has no other one.
  if (first === undefined || first.stepNumber === 0) return true
  const steps = stepsOf(tape)
  const asked = new Set(same.map(({ step }) => step))
  const shown = steps.filter(({ n }) => asked.has(n))
  const couldHave = couldHaveOf(first, shown)
  return shown.length > 0 && steps.every((step) => asked.has(step.n) || !couldHave(step))
}

type Could = (step: Step) => boolean

function couldHaveOf(drift: Drift, shown: readonly Step[]): Could {
  const { class: name, path } = drift
  if (path === 'model' || path.startsWith('params.')) {
    // Its key has the instructions it stands beside.
    const scope = new Set(shown.map(instructionsOf))
    if (!scope.has(undefined)) return (step) => scope.has(instructionsOf(step))
  }
  if (name === 'endpoint') {
    const hosts = shown.map(hostOf)
    if (hosts.every((one) => one !== '')) return (step) => hosts.includes(hostOf(step))
  }
  if (name === 'headers' && shown.every(({ kind }) => kind === 'exchange')) {
    const values = shown.map((step) => headerOf(step, path))
    return (step) => step.kind !== 'exchange' || values.includes(headerOf(step, path))
  }
  if (['instructions', 'tools', 'messages', 'whitespace'].includes(name)) {
    const has: Could = (step) => partsOf(step).has(drift.was)
    if (shown.every(has)) return has
    if (shown.every(isModelCall)) return isModelCall
  }
  return () => true
}

function requestOf(step: Step): ModelRequest | undefined {
  return step.kind === 'exchange' ? readModelCall(step)?.request : undefined
}

function isModelCall(step: Step): boolean {
  const request = requestOf(step)
  return request?.dialect !== undefined && isGenerative(request.dialect)
}

function instructionsOf(step: Step): string | undefined {
  const request = requestOf(step)
  return request && canonicalJson(request.instructions as Json)
}

function hostOf(step: Step): string {
  return step.kind === 'exchange' ? writtenOrigin(step.url) : ''
}

function headerOf(step: Step, name: string): string {
  if (step.kind !== 'exchange') return ''
  return JSON.stringify(step.request.headers.filter(([one]) => one.toLowerCase() === name).map(([, value]) => value))
}

/** Digests of each part of a request, and of each list of them. */
function partsOf(step: Step): ReadonlySet<string> {
  const request = requestOf(step)
  if (request === undefined) return new Set()
  const lists = [request.instructions, request.messages, request.tools] as readonly (readonly Json[])[]
  const parts = lists.flatMap((list) => [list.length === 0 ? undefined : (list as Json), ...list])
  return new Set(parts.map(digestOfPart))
}
