import { at, isList, isMap, without } from '../json/canonical.ts'
import { firstDifference } from '../match/difference.ts'
import type { CallState } from '../match/step.ts'
import { behindFields } from '../tape/encode-value.ts'
import type { SeamCall } from '../seam/source.ts'
import type { ToolContext } from '../seam/tool-context.ts'
import { contextsFlag, type Json, type Tape } from '../tape/index.ts'
import { presentArgs } from '../tape/present.ts'
import type { ReplayRun } from './run.ts'

/** Parts of contexts that tapes without `contexts-1` may lack. */
const newParts = ['actions', 'state']

const unknown = new WeakMap<Tape, readonly string[]>()

/** A context as this tape can tell of it: without parts that its recorder did not write. */
export function asOnTape(tape: Tape, context: Json): Json {
  if (!isMap(context)) return context
  const known = without(context, ...lackingOn(tape))
  return Object.keys(known).length === 0 ? null : known
}

function lackingOn(tape: Tape): readonly string[] {
  let lacking = unknown.get(tape)
  if (lacking === undefined) {
    const contexts = tape.events.flatMap((event) => ('context' in event && isMap(event.context) ? [event.context] : []))
    lacking = tape.header.flags.includes(contextsFlag)
      ? []
      : newParts.filter((part) => !contexts.some((one) => Object.hasOwn(one, part)))
    unknown.set(tape, lacking)
  }
  return lacking
}

/** What the framework handed over beside the arguments is the agent's doing as they are. */
export function compareContext(
  run: ReplayRun,
  call: SeamCall,
  step: CallState,
  context: Json,
  { live, instances, data }: ToolContext,
): void {
  const { context: recorded } = step.event
  const behind = instances.flatMap(({ at, value }) => {
    const what = behindFields(value)
    return what === undefined ? [] : [{ at, what }]
  })
  run.noteHidden(run.hidden.ofContext([...live, ...behind]), step)
  if (recorded === undefined) {
    if (data !== undefined) run.noteHidden(run.hidden.ofContext([{ at: '', what: 'the context of a tool' }]), step)
    return
  }
  const comparable = run.tape.header.flags.includes(contextsFlag) ? context : comparableWith(run, step, context, data)
  const difference = firstDifference(presentArgs(recorded), presentArgs(comparable), 'context')
  if (difference) run.drifted(step, undefined, { class: 'arguments', part: call.name, ...difference })
}

/** Of a context what an older recorder wrote, too. Lists the rest. */
function comparableWith(run: ReplayRun, step: CallState, context: Json, data: unknown): Json {
  const patterns: string[] = []
  const comparable = withoutUnknown(step.event.context, context, '', patterns) ?? null
  const parts = lackingOn(run.tape).filter((part) => Object.hasOwn(Object(data), part))
  const left = [
    ...parts.map((part) => ({ at: `.${part}`, what: 'a part that the recorder did not write' })),
    ...patterns.map((at) => ({ at, what: 'a regular expression' })),
  ]
  if (left.length > 0) run.noteHidden(run.hidden.ofContext(left), step)
  return comparable
}

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
