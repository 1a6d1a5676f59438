import { toolNames } from '../../blame/known-names.ts'
import { nearestWord, neutralLine } from '../../errors/index.ts'
import { compileRule } from '../../rules/index.ts'
import type { Tape } from '../../tape/index.ts'

/** Says which tools of a rule neither the run nor its models knew: most likely they are mistyped, and the rule holds nowhere. */
export function unknownToolLines(rule: string, tape: Tape): readonly string[] {
  const known = toolNames(tape)
  return compileRule(rule)
    .tools.filter((name) => !name.includes('*') && !known.includes(name))
    .map((name) => {
      const near = nearestWord(name, known)
      const meant = near === undefined ? '' : ` Did you mean ${neutralLine(near, 40)}?`
      const names = known.length === 0 ? 'none' : neutralLine(known.join(', '), 160)
      return `no tool ${neutralLine(name, 40)} on this tape.${meant} Its tools: ${names}`
    })
}
