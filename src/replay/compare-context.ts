import { at, isList, isMap, without } from '../json/canonical.ts'
import { firstDifference } from '../match/difference.ts'
import type { CallState } from '../match/step.ts'
import type { SeamCall } from '../seam/source.ts'
import type { ToolContext } from '../seam/tool-context.ts'
import type { Json, Tape } from '../tape/index.ts'
import { presentArgs } from '../tape/present-args.ts'
import type { ReplayRun } from './run.ts'

/** Parts of contexts that recorders did not write from the beginning. */
const newParts = ['actions', 'state']

const unknown = new WeakMap<Tape, readonly string[]>()

/** A context as this tape can tell of it: without parts that none of its contexts has. */
export function asOnTape(tape: Tape, context: Json): Json {
  if (!isMap(context)) return context
  let lacking = unknown.get(tape)
  if (lacking === undefined) {
    const contexts = tape.events.flatMap((event) => ('context' in event && isMap(event.context) ? [event.context] : []))
    lacking = newParts.filter((part) => !contexts.some((one) => Object.hasOwn(one, part)))
    unknown.set(tape, lacking)
  }
  const known = without(context, ...lacking)
  return Object.keys(known).length === 0 ? null : known
}

/** What the framework handed over beside the arguments is the agent's doing as they are. */
export function compareContext(
  run: ReplayRun,
  call: SeamCall,
  step: CallState,
  context: Json,
  { live, data }: ToolContext,
): void {
  const { context: recorded } = step.event
  run.noteHidden(run.hidden.ofContext(live), step)
  if (recorded === undefined) {
    if (data !== undefined) run.noteHidden(run.hidden.ofContext([{ at: '', what: 'the context of a tool' }]), step)
    return
  }
  const unknown: string[] = []
  const comparable = withoutUnknown(recorded, context, '', unknown) ?? null
  if (unknown.length > 0) run.noteHidden(run.hidden.ofContext(unknown.map((at) => ({ at, what: aPattern }))), step)
  const difference = firstDifference(presentArgs(recorded), presentArgs(comparable), 'context')
  if (difference) run.drifted(step, undefined, { class: 'arguments', part: call.name, ...difference })
}

const aPattern = 'a regular expression'

/** What a context says now, without regular expressions where the tape has nothing: older recorders left them out. */
function withoutUnknown(recorded: Json | undefined, live: Json, path: string, unknown: string[]): Json | undefined {
  if (recorded === live) return live
  if (isList(live))
    return live.map((item, i) => withoutUnknown(itemOf(recorded, i), item, `${path}[${i}]`, unknown) ?? null)
  if (!isMap(live)) return live
  if (live['$type'] === 'regexp' && (recorded === undefined || recorded === null)) {
    unknown.push(path)
    return undefined
  }
  const before = unknown.length
  const fields = Object.entries(live).flatMap(([name, field]) => {
    const kept = withoutUnknown(at(recorded, name), field, `${path}.${name}`, unknown)
    return kept === undefined ? [] : [[name, kept] as const]
  })
  // What held nothing else was left out, too.
  const isEmptied = fields.length === 0 && unknown.length > before && !isMap(recorded)
  return isEmptied ? undefined : Object.fromEntries(fields)
}

function itemOf(recorded: Json | undefined, index: number): Json | undefined {
  return isList(recorded) ? recorded[index] : undefined
}
