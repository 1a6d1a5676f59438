import { toolNames } from '../../blame/known-names.ts'
import type { DebugSession } from '../../debug/index.ts'
import { nearestWord, neutralLine } from '../../errors/index.ts'
import { compileRule } from '../../rules/index.ts'

/** Says which tools of a rule neither the run nor its models knew: most likely they are mistyped, and the rule holds nowhere. */
export function unknownToolLines(rule: string, { tape, moments }: DebugSession): readonly string[] {
  const called = new Set(moments.flatMap(({ kind, name = '' }) => (kind === 'call' || kind === 'asks' ? name : [])))
  const named = compileRule(rule).tools.filter((name) => !name.includes('*') && !called.has(name))
  // What models were offered is in their requests: read only for a name that nothing called.
  const known = named.length === 0 ? [] : toolNames(tape)
  return named
    .filter((name) => !known.includes(name))
    .map((name) => {
      const near = nearestWord(name, known)
      const meant = near === undefined ? '' : ` Did you mean ${neutralLine(near, 40)}?`
      const names = known.length === 0 ? 'none' : neutralLine(known.join(', '), 160)
      return `no tool ${neutralLine(name, 40)} on this tape.${meant} Its tools: ${names}`
    })
}
