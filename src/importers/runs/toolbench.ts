import { jsonOr } from '../body.ts'
import type { Cursor } from '../cursor.ts'
import type { ForeignFormat } from '../document.ts'
import type { ForeignStep } from '../types.ts'
import { conversationSteps } from './conversation.ts'
import { outcome } from './marks.ts'
import { known, listOf } from './values.ts'

/**
 * Answers of ToolBench: a tree or a chain of thoughts, actions and what came of them. All that was tried stands on the
 * tape, branches that were given up too, in the order of the search.
 *
 * @see https://github.com/OpenBMB/ToolBench, toolbench/inference/Tree/Tree.py
 */
export const toolBench: ForeignFormat = {
  name: 'toolbench',
  recognises: ({ root }) =>
    root.at('answer_generation').isMap &&
    (root.at('tree').isMap || root.at('chain').isThere || root.at('trys').isThere),
  read({ root }) {
    const answer = root.at('answer_generation')
    const tree = root.at('tree').at('tree')
    const query = answer.at('query').maybeText
    const lastMessage = listOf(answer.at('train_messages')).at(-1)
    return {
      format: 'toolbench',
      exchanges: [],
      steps: [
        ...(query === undefined || !tree.isMap
          ? []
          : [{ kind: 'message' as const, from: 'user', to: 'model', body: query }]),
        ...(tree.isMap ? branchSteps(tree) : conversationSteps(listOf(lastMessage ?? answer.at('train_messages')))),
        ...outcome(
          known({
            win: root.at('win'),
            finish_type: answer.at('finish_type'),
            final_answer: answer.at('final_answer'),
          }),
        ),
      ],
    }
  },
}

/** Nodes in the order they were first reached: an action, then its input, whose node holds what came of it. */
function branchSteps(node: Cursor, name?: string): readonly ForeignStep[] {
  const type = node.at('node_type').maybeText
  const description = node.at('description').maybeText ?? ''
  const children = listOf(node.at('children'))
  if (type === 'Action') return children.flatMap((child) => branchSteps(child, description))
  const below = (): readonly ForeignStep[] => children.flatMap((child) => branchSteps(child))
  if (type === 'Thought')
    return [
      ...(description === '' ? [] : [{ kind: 'message' as const, from: 'model', to: 'model', body: description }]),
      ...below(),
    ]
  if (name === undefined) return below()
  const observation = node.at('observation')
  return [
    {
      kind: 'tool',
      name,
      args: jsonOr(description),
      ...(observation.isThere ? { result: observation.value } : {}),
    },
    ...below(),
  ]
}
