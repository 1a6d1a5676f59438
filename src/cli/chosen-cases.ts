import type { Case } from '../cases/index.ts'
import { stepsElsewhere } from '../errors/above.ts'
import { neutralLine } from '../errors/index.ts'
import { type CaseSummary, listCases } from '../recordings/index.ts'
import { type CommandInput, program } from './command.ts'
import { findCaseToRun } from './find.ts'
import { usage } from './parse.ts'
import { rerunSpec } from './spec/test.ts'

/** A case that could be read. */
export type Loaded = CaseSummary & { readonly case: Case }

/** @throws HarvestError `HARVEST_CLI_ARGUMENT` unless one way to say which cases was typed */
export function requireOneChoice(given: CommandInput): void {
  const [name] = given.args
  const tag = given.value('tag')
  if ([name !== undefined, tag !== undefined, given.has('golden')].filter(Boolean).length === 1) return
  const what = 'rerun takes the id of a case, or --tag, or --golden'
  throw usage(rerunSpec, 'HARVEST_CLI_ARGUMENT', what, toChoose({ name, tag }))
}

/** @throws HarvestError where there are no such cases, or one of them cannot be read */
export function chosen(given: CommandInput): readonly Loaded[] {
  const recordings = given.value('dir') ?? 'recordings'
  const [name] = given.args
  const tag = given.value('tag')
  const isAll = given.has('golden')
  const found =
    name === undefined
      ? listCases(recordings).filter(({ case: loaded }) => isAll || loaded?.tags?.includes(tag ?? '') === true)
      : [findCaseToRun(recordings, name)]
  if (found.length === 0) {
    const what = isAll ? 'the golden set has no case' : `no case has the tag ${neutralLine(tag ?? '', 60)}`
    throw usage(rerunSpec, 'HARVEST_CLI_ARGUMENT', what, [
      ...stepsElsewhere(recordings),
      ...(isAll
        ? [`to make one: ${program} promote '<tape>' --as '<id>'`]
        : [`to list the cases: ${program} ls --golden`, "with another tag: --tag '<name>'"]),
    ])
  }
  return found.map((summary) => {
    if (summary.error !== undefined || summary.case === undefined)
      throw summary.error ?? new TypeError(`${summary.file} was not read`)
    return { ...summary, case: summary.case }
  })
}

/** How to say which cases: one of the ways that were typed, or any of them. */
function toChoose({
  name,
  tag,
}: {
  readonly name: string | undefined
  readonly tag: string | undefined
}): readonly string[] {
  if (name !== undefined) return ['to run this case: the same command, without --tag and --golden']
  if (tag !== undefined) return ['to run those with the tag: the same command, without --golden']
  return [
    `to list them: ${program} ls --golden`,
    "to run one: the same command, with '<case>'",
    'to run them all: --golden',
  ]
}
