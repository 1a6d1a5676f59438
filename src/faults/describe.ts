import { neutralLine } from '../errors/index.ts'
import { describeEvent } from '../match/step.ts'
import { stepsOf, type Tape } from '../tape/index.ts'
import { kindNamed } from './kinds.ts'
import type { Fault } from './types.ts'

/** One fault in words: `step 2, POST /v1/messages: HTTP 429 without Retry-After (http-429)`. */
export function describeFault(tape: Tape, { step: number, kind, args }: Fault): string {
  const step = stepsOf(tape)[number - 1]
  const where = step === undefined ? 'the whole run' : `step ${number}, ${neutralLine(describeEvent(step), 80)}`
  const said = Object.entries(args).map(([name, value]) => `${name}: ${neutralLine(String(value), 60)}`)
  return `${where}: ${kindNamed(kind).about} (${[kind, ...said].join(', ')})`
}
