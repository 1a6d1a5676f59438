import { relative } from 'node:path'
import { neutralLine } from '../../errors/index.ts'
import { type Screen, table } from '../../report/output.ts'
import type { ImportedRecording, ImportResult } from '../../recordings/importing/index.ts'

/** The answer for people: a table of what was imported, what each lacks, and why others were refused. */
export function printImport({ imported, refused, passedOver }: ImportResult, screen: Screen): void {
  const lists = imported.map(({ facts }) => facts.missing)
  const common = (lists[0] ?? []).filter((word) => lists.every((list) => list.includes(word)))
  if (imported.length > 0) {
    const head = ['file', 'format', 'grade', 'calls', 'model calls', 'tool calls', 'missing', 'tape'].map((cell) =>
      screen.paint('dim', cell),
    )
    screen.line(table([head, ...imported.map((one) => rowOf(one, common))], [3, 4, 5]))
    screen.line()
    if (common.length > 0) screen.line(`missing in ${imported.length === 1 ? 'it' : 'all'}: ${common.join(', ')}`)
  }
  for (const { file, error } of refused) {
    const { where, what } = error.facts
    const problem = where?.['problem'] ?? what
    screen.note(`refused ${neutralLine(where?.['file'] ?? file, 400)}: ${neutralLine(problem, 200)} (${error.code})`)
  }
  const rest = passedOver === 0 ? '' : `, ${passedOver} passed over as no recordings`
  screen.line(`${imported.length} imported, ${refused.length} refused${rest}`)
  const [first] = imported
  if (first !== undefined) screen.line(`To read one: npx vitest-harvest show ${neutralLine(first.id)}`)
}

function rowOf({ file, tape, facts }: ImportedRecording, common: readonly string[]): readonly string[] {
  const { format, grade, exchanges, modelCalls, tools, missing } = facts
  const own = missing.filter((word) => !common.includes(word))
  return [
    neutralLine(file, 400),
    format,
    grade,
    `${exchanges}`,
    `${modelCalls}`,
    `${tools.length}`,
    own.join(', '),
    neutralLine(relative('.', tape), 400),
  ]
}

/** The answer for programs. */
export function asJson({ imported, refused, passedOver }: ImportResult): object {
  return {
    imported: imported.map(({ file, tape, id, facts }) => ({ file, tape, id, ...facts })),
    refused: refused.map(({ file, error }) => ({ file, ...error.toJSON() })),
    passedOver,
  }
}
