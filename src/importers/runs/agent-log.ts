import type { Cursor } from '../cursor.ts'
import { firstItem, type ForeignFormat, itemsAt, listed } from '../document.ts'
import type { ForeignStep } from '../types.ts'
import { addressed } from './group-chat.ts'
import { label, outcome } from './marks.ts'
import { isRole } from './roles.ts'
import { known, listOf, timeOf } from './values.ts'

/**
 * Logs of teams of agents: who said what, in turn. A list or JSON Lines of `source` and `content`, as AutoGen and
 * Magentic-One write them, or steps with parts, as AgentRx does.
 *
 * @see https://microsoft.github.io/autogen/stable/reference/python/autogen_agentchat.messages.html; https://github.com/microsoft/AgentRx
 */
export const agentLog: ForeignFormat = {
  name: 'agent-log',
  recognises(document) {
    const first = firstItem(document)
    if (first !== undefined) return isSpoken(first) && !isRole(first.at('role').maybeText)
    const step = listOf(document.root.at('steps'))[0]
    return step !== undefined && Array.isArray(step.at('substeps').value)
  },
  read(document) {
    const { root } = document
    const name = root.at('trajectory_id').maybeText
    const lines = root.isMap ? root.at('steps').items.flatMap(partsOf) : itemsAt(document)
    return {
      format: 'agent-log',
      ...(name === undefined ? {} : { name }),
      exchanges: [],
      steps: [
        ...instruction(root),
        ...listed(lines, stepOf),
        ...outcome(known({ reward: root.at('reward'), correct: root.at('is_correct') })),
        ...label(known({ failures: root.at('failures'), root_cause: root.at('root_cause') })),
      ],
    }
  },
}

function speakerOf(line: Cursor): string | undefined {
  return ['source', 'agent', 'name', 'role', 'sender']
    .map((key) => line.at(key).maybeText)
    .find((text) => text !== undefined)
}

function contentOf(line: Cursor): Cursor | undefined {
  return ['content', 'message', 'text'].map((key) => line.at(key)).find(({ isThere }) => isThere)
}

function isSpoken(line: Cursor): boolean {
  // Events of OpenHands have a source and a message as well.
  if (line.at('action').isThere || line.at('observation').isThere) return false
  return speakerOf(line) !== undefined && contentOf(line)?.maybeText !== undefined
}

/** The parts of a step; a step without is one. */
function partsOf(step: Cursor): readonly Cursor[] {
  return Array.isArray(step.at('substeps').value) ? step.at('substeps').items : [step]
}

function instruction(root: Cursor): readonly ForeignStep[] {
  const text = root.at('instruction').maybeText
  return text === undefined ? [] : [{ kind: 'message', from: 'user', to: 'all', body: text }]
}

function stepOf(line: Cursor): ForeignStep {
  const [at] = ['timestamp', 'created_at', 'time'].flatMap((key) => timeOf(line.at(key)) ?? [])
  const when = at === undefined ? {} : { startedMs: at }
  const speaker = speakerOf(line)
  const content = contentOf(line)
  // Beside what is said stand counts of tokens and the like.
  if (speaker === undefined || content === undefined)
    return { kind: 'mark', ...when, name: line.map.at('type').maybeText ?? 'note', data: line.value }
  return { kind: 'message', ...when, ...addressed(speaker), body: content.value }
}
