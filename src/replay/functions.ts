import { extname } from 'node:path'
import type { CallState } from '../match/step.ts'
import { redactorOfTape } from '../privacy/index.ts'
import { Codes, type FunctionCode, mayBeSame, nameOf, textOf } from '../seam/code-of.ts'
import type { SeamCall } from '../seam/source.ts'
import type { Tape } from '../tape/index.ts'
import type { ReplayRun } from './run.ts'

/** Lists other functions under the names of wrapped ones: their bodies do not run, so nothing else tells of them. */
export class Functions {
  readonly #run: ReplayRun
  /** Those that are listed, once each. */
  readonly #listed = new Set<string>()

  constructor(run: ReplayRun) {
    this.#run = run
  }

  compare({ kind, name, body }: SeamCall, step: CallState): void {
    const { code: recorded, site } = step.event
    if (!recorded || !body) return
    const codes = codesFor(this.#run.tape)
    const live = codes.of(body)
    if (!live || mayBeSame(recorded, live)) return
    if (rewritten(codes, body, recorded[0]).some((one) => mayBeSame(recorded, one))) return
    const pair = JSON.stringify([name, recorded, live])
    if (this.#listed.has(pair)) return
    this.#listed.add(pair)
    const now = this.#run.place().site
    // In a file of another kind the agent is another build, which writes its functions in other ways.
    if (site !== undefined && now !== undefined && endingOf(site) !== endingOf(now)) return
    const shown = ([own, digests]: FunctionCode): string => `${own} (${digests})`.trimStart()
    this.#run.drifted(step, undefined, {
      class: 'functions',
      path: 'code',
      part: `function of ${kind} ${name}`,
      recorded: shown(recorded),
      live: shown([this.#run.redactor.text(live[0]), live[1]]),
    })
  }
}

/**
 * What might be known of a function if it were written as a method, an arrow or a function expression, and where it or the other
 * one was given no name.
 *
 * @param name - of the other one
 */
export function rewritten(codes: Codes, fn: NonNullable<SeamCall['body']>, name: string): readonly FunctionCode[] {
  const own = nameOf(fn)
  if (own !== name && own !== '' && name !== '') return []
  const text = textOf(fn)
  const head = /^(async\b)?\s*(?:function\b)?[\s*]*([\p{L}\p{N}_$]*)\s*(?=\()/u.exec(text)
  const isOwnHead = head !== null && (head[2] === '' || head[2] === own)
  const rest = isOwnHead ? `${head[1] ?? ''} ${text.slice(head[0].length)}` : text
  const texts = isOwnHead ? [rest, `function ${rest}`] : [rest]
  return texts.map((one) => codes.of(fn, name, one)).filter((one) => one !== undefined)
}

/** By the rules for secrets: tapes of one recorder have the same. */
const known = new Map<string, Codes>()
const mostKnown = 20

function codesFor(tape: Tape): Codes {
  const { redact = {}, flags } = tape.header
  const rules = JSON.stringify([redact, flags])
  let codes = known.get(rules)
  if (codes === undefined) {
    if (known.size === mostKnown) known.clear()
    known.set(rules, (codes = new Codes((text) => redactorOfTape(tape).scan(text))))
  }
  return codes
}

/** Of the file of a site, such as `.ts`. */
function endingOf(site: string): string {
  return extname(site.replace(/:\d+:\d+$/, ''))
}
