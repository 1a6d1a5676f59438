import type { Cursor } from '../cursor.ts'
import { firstItem, type ForeignFormat } from '../document.ts'
import type { ForeignStep } from '../types.ts'
import { conversationSteps } from './conversation.ts'
import { outcome } from './marks.ts'
import { known, listOf } from './values.ts'

/**
 * SWE-agent: a trajectory of actions and what the shell said, and the history the model saw. A demonstration may be
 * the history alone.
 *
 * @see https://swe-agent.com/latest/usage/trajectories/
 */
export const sweAgent: ForeignFormat = {
  name: 'swe-agent',
  recognises: ({ root }) => isTurn(listOf(root.at('trajectory'))[0]) || isHistory(root),
  read({ root }) {
    const history = listOf(root.at('history'))
    const turns = listOf(root.at('trajectory'))
    const hasCalls = history.some((message) => listOf(message.at('tool_calls')).length > 0)
    const steps = hasCalls || turns.length === 0 ? conversationSteps(history) : turnSteps(history, turns)
    const info = root.at('info')
    return {
      format: 'swe-agent',
      exchanges: [],
      steps: [...steps, ...outcome(known({ exit_status: info.at('exit_status'), submission: info.at('submission') }))],
    }
  },
}

function isTurn(turn: Cursor | undefined): boolean {
  return turn?.at('action').isThere === true && turn.at('observation').isThere
}

function isHistory(root: Cursor): boolean {
  const [first] = listOf(root.at('history'))
  return first?.at('role').isThere === true && first.at('agent').isThere && !root.at('question').isThere
}

/** The messages before the first action of the model, then its actions and their results. */
function turnSteps(history: readonly Cursor[], turns: readonly Cursor[]): readonly ForeignStep[] {
  const begin = history.findIndex((message) => message.at('role').value === 'assistant')
  const told = begin === -1 ? history : history.slice(0, begin)
  return [...conversationSteps(told), ...turns.flatMap((turn, index) => turnStep(turn, `${index}`))]
}

function turnStep(turn: Cursor, callId: string): readonly ForeignStep[] {
  const action = turn.at('action').maybeText ?? ''
  const text = turn.at('response').maybeText ?? turn.at('thought').maybeText
  const name = commandOf(action)
  const said = { kind: 'model' as const, ...(text === undefined ? {} : { text }) }
  // A turn without an action is one whose answer could not be read.
  if (name === undefined) return [{ ...said, toolCalls: [] }]
  const args = { action }
  const seconds = turn.at('execution_time').maybeNumber
  return [
    { ...said, toolCalls: [{ id: callId, name, args }] },
    {
      kind: 'tool',
      name,
      args,
      callId,
      result: turn.at('observation').value ?? null,
      ...(seconds === undefined ? {} : { tookMs: seconds * 1000 }),
    },
  ]
}

/** Its tools are commands of a shell: the first word names them. */
function commandOf(action: string): string | undefined {
  return /^\s*([^\s;|&<>()]+)/.exec(action)?.[1]
}

/**
 * mini-swe-agent: messages, whose commands stand in fenced blocks of text or, from version 2 on, in tool calls.
 *
 * @see https://mini-swe-agent.com/latest/usage/output_files/
 */
export const miniSweAgent: ForeignFormat = {
  name: 'mini-swe-agent',
  recognises(document) {
    const { root } = document
    if (root.isMap)
      return (
        root.at('info').at('mini_version').isThere ||
        /^mini-swe-agent/.test(root.at('trajectory_format').maybeText ?? '')
      )
    return firstItem(document)?.at('role').isThere === true && listOf(root).some((message) => hasMiniBlock(message))
  },
  read({ root }) {
    const info = root.at('info')
    const messages = root.isMap ? root.at('messages').items : root.items
    const hasCalls = messages.some((message) => listOf(message.at('tool_calls')).length > 0)
    return {
      format: 'mini-swe-agent',
      exchanges: [],
      steps: [
        ...(hasCalls ? conversationSteps(messages) : blockSteps(messages)),
        ...outcome(known({ exit_status: info.at('exit_status'), submission: info.at('submission') })),
      ],
    }
  },
}

// The blank lines are taken whole: for each one given back the rest of the text would be searched again.
const block = /```(?:mswea_bash_command|bash)(?=(?<blank>\s*\n))\k<blank>(?<command>[\s\S]*?)\n?```/

function hasMiniBlock(message: Cursor): boolean {
  return (
    message.at('role').value === 'assistant' && /```mswea_bash_command\s*\n/.test(message.at('content').maybeText ?? '')
  )
}

/** Each answer of the model holds one command, and the message behind it is what came of it. */
function blockSteps(messages: readonly Cursor[]): readonly ForeignStep[] {
  const steps: ForeignStep[] = []
  for (let i = 0; i < messages.length; i++) {
    const message = messages[i]!
    const command =
      message.at('role').value === 'assistant'
        ? block.exec(message.at('content').maybeText ?? '')?.groups?.['command']
        : undefined
    if (command === undefined) {
      steps.push(...conversationSteps([message]))
      continue
    }
    const call = { id: `${i}`, name: 'bash', args: { command } }
    steps.push({ kind: 'model', text: message.at('content').text, toolCalls: [call] })
    const answer = messages[i + 1]
    if (answer?.at('role').value !== 'user') continue
    steps.push({
      kind: 'tool',
      name: 'bash',
      args: call.args,
      callId: call.id,
      result: answer.at('content').value ?? null,
    })
    i++
  }
  return steps
}
