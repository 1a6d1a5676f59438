import type { FixAnswer } from '../../blame/fix-task.ts'
import { neutralLine } from '../../errors/index.ts'
import type { CommandInput } from '../command.ts'
import { toolsHere, withUsualTools } from '../live-grading.ts'
import type { NextStep } from '../next-steps.ts'
import { typedAgain } from '../typed-again.ts'

/** So many names are shown. */
const mostNames = 3

/**
 * From calls that nothing answers to the ways that answer them, without those that were given and do not.
 *
 * @param isPlan - no model was asked yet: the same command asks them
 */
export function stepsToAnswer(
  { refused, otherRun }: Pick<FixAnswer, 'otherRun' | 'refused'>,
  given: Pick<CommandInput, 'value'>,
  isPlan: boolean,
): readonly NextStep[] {
  const tools = given.value('tools') ?? 'tape'
  // They ran: what was refused all the same is no call of theirs.
  if (refused.length === 0 || tools === 'live') return []
  const names = [...new Set(refused.flatMap(({ tool }) => tool ?? []))]
  const said = names
    .slice(0, mostNames)
    .map((name) => neutralLine(name, 40))
    .join(', ')
  const changes = isPlan ? { live: true } : {}
  const functions = {
    about: withUsualTools(isPlan ? 'to ask them' : 'to answer its new calls', said),
    command: typedAgain({ ...changes, tools: toolsHere() }),
  }
  return [
    ...(names.length === 0
      ? []
      : [tools === 'tape' ? functions : { about: onceExported(tools, said), command: typedAgain(changes) }]),
    ...(otherRun === undefined
      ? []
      : [
          {
            about: isPlan ? 'or answered from another run' : 'to answer them from another run',
            command: typedAgain({ ...changes, reference: otherRun }),
          },
        ]),
    {
      about: isPlan
        ? 'or with its tools run for real, side effects and all'
        : 'to run its tools for real, with their side effects',
      command: typedAgain({ ...changes, tools: 'live' }),
    },
  ]
}

/** @param tools - a module that has no function of these names, and the export that holds them where it is named */
function onceExported(tools: string, names: string): string {
  const [file = '', held] = tools.split('#', 2)
  const where = neutralLine(file, 80)
  return held === undefined
    ? `once ${where} exports ${names}`
    : `once ${neutralLine(held, 40)} of ${where} has ${names}`
}
