import type { ReportMessage, ReportStep } from '../view/types.ts'
import { report, text } from './state.ts'

/** The model call before this one in its conversation; what was only tried again is no call before. */
export function callBefore(s: ReportStep): ReportStep | undefined {
  if (s.prompt === undefined) return undefined
  const { steps } = report().run
  for (let index = s.no - 2; index >= 0; index--) {
    const one = steps[index]
    if (one?.prompt !== undefined && one.lane === s.lane && one.no !== s.again) return one
  }
  return undefined
}

export function isSame(a: ReportMessage, b: ReportMessage): boolean {
  return a.r === b.r && a.t === b.t && (a.c ?? []).join('\n') === (b.c ?? []).join('\n')
}

/** How many messages the call before began with, too. */
export function sharedMessages(s: ReportStep): number {
  const now = s.prompt?.msgs ?? []
  const then = callBefore(s)?.prompt?.msgs ?? []
  let count = 0
  for (; count < Math.min(now.length, then.length); count++) {
    const [a, b] = [now[count], then[count]]
    if (a === undefined || b === undefined || !isSame(a, b)) break
  }
  return count
}

function lengthOf(message: ReportMessage): number {
  return text(message.t).length + (message.c ?? []).join('').length
}

export interface PromptPart {
  readonly name: 'system' | 'tools' | 'user' | 'assistant' | 'tool' | 'other'
  readonly label: string
  readonly characters: number
  readonly count: number
}

/** What a model saw, by where it comes from. */
export function partsOf({ prompt }: ReportStep): readonly PromptPart[] {
  if (prompt === undefined) return []
  const groupOf = ({ r }: ReportMessage): PromptPart['name'] =>
    r === 'input' || r === 'user'
      ? 'user'
      : r === 'model' || r === 'assistant'
        ? 'assistant'
        : r === 'tool'
          ? 'tool'
          : 'other'
  const of = (name: PromptPart['name'], label: string): PromptPart => {
    const messages = prompt.msgs.filter((message) => groupOf(message) === name)
    return { name, label, characters: messages.reduce((sum, one) => sum + lengthOf(one), 0), count: messages.length }
  }
  const texts = (name: 'system' | 'tools', label: string, refs: readonly number[]): PromptPart => ({
    name,
    label,
    characters: refs.reduce((sum, ref) => sum + text(ref).length, 0),
    count: refs.length,
  })
  return [
    texts('system', 'instructions', prompt.sys),
    texts(
      'tools',
      'tool schemas',
      prompt.tools.map(({ t }) => t),
    ),
    of('user', 'user'),
    of('assistant', 'model'),
    of('tool', 'tool results'),
    of('other', 'other'),
  ].filter(({ characters }) => characters > 0)
}

/** The messages that one prompt has and another does not. */
export function messagesBeyond(s: ReportStep, other: ReportStep): readonly ReportMessage[] {
  const known = new Set((other.prompt?.msgs ?? []).map(keyOf))
  return (s.prompt?.msgs ?? []).filter((message) => !known.has(keyOf(message)))
}

function keyOf({ r, t, c }: ReportMessage): string {
  return JSON.stringify([r, t, c])
}

/** About how many tokens a message has, when `perCharacter` tokens are a character. */
export function tokensAbout(message: ReportMessage, perCharacter: number): number {
  return Math.round(lengthOf(message) * perCharacter)
}

/** A prompt as one text. */
export function flatPrompt({ prompt }: ReportStep): string {
  if (prompt === undefined) return ''
  const messages = prompt.msgs.map(({ r, t, c = [] }) => `${r}\n${text(t)}${c.map((call) => `\n→ ${call}`).join('')}`)
  return [...prompt.sys.map((ref) => `system\n${text(ref)}`), ...messages].join('\n\n')
}
