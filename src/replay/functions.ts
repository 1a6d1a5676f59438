import { extname } from 'node:path'
import type { CallState } from '../match/step.ts'
import { redactorOfTape } from '../privacy/index.ts'
import { Codes, type FunctionCode, mayBeSame } from '../seam/code-of.ts'
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
    if (codes.rewritten(body, recorded[0]).some((one) => mayBeSame(recorded, one))) return
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
