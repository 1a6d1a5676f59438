import { grouped } from '../../errors/words.ts'
import { pinsOf } from '../../provenance/index.ts'
import type { Tape } from '../../tape/index.ts'
import { duration } from '../describe.ts'
import type { Run } from '../run.ts'
import { costText } from '../spending.ts'

/** One fact of both runs; recorded text, not yet neutral. */
export interface FactRow {
  readonly what: string
  readonly a: string
  readonly b: string
  readonly same: boolean
}

export interface Opened {
  readonly tape: Tape
  readonly run: Run
}

/** What two runs were made with and what they took, side by side. */
export function factRows(a: Opened, b: Opened): readonly FactRow[] {
  const [left, right] = [factsOf(a), factsOf(b)]
  return Object.keys(left).map((what) => {
    const [one, other] = [left[what] ?? '', right[what] ?? '']
    return { what, a: one, b: other, same: one === other }
  })
}

function factsOf({ tape, run }: Opened): Readonly<Record<string, string>> {
  const { commit = 'unknown', dirty, models = [], prompt, tools, node = 'unknown' } = pinsOf(tape)
  const { header, close } = tape
  const { steps, spending } = run
  const tokens = (sum: number | undefined): string =>
    sum === undefined ? 'unknown' : `${spending.untold > 0 ? 'at least ' : ''}${grouped(sum)}`
  return {
    agent: header.agent,
    input: header.input === undefined ? 'none' : JSON.stringify(header.input),
    commit: dirty === true ? `${commit} dirty` : commit,
    // Of an imported trace no request says which: its marks do.
    models: (models.length > 0 ? models : run.models).join(', ') || 'none',
    prompt: prompt ?? 'none',
    tools: tools ?? 'none',
    node,
    recorder: header.recorder,
    steps: grouped(steps.length),
    'model calls': grouped(spending.modelCalls),
    'tokens in': tokens(spending.inputTokens),
    'tokens out': tokens(spending.outputTokens),
    cost: costText(spending, close?.usage).replace('cost ', ''),
    took: close === undefined ? 'truncated' : duration(close.at),
  }
}
