import { neutralLine } from '../../errors/neutral.ts'
import { isMap } from '../../json/canonical.ts'
import type { StepState } from '../../match/step.ts'
import { readModelCall } from '../../providers/index.ts'
import type { Json } from '../../tape/index.ts'

/** How the system prompt of a model call begins, or its last message: of several agents it tells which one asked. */
export function promptLine({ event, number }: StepState): string {
  const request = event.kind === 'exchange' ? readModelCall(event)?.request : undefined
  const text = spoken(request?.instructions[0] ?? request?.messages.at(-1))
  return text === undefined ? '' : `Step ${number} asked: ${JSON.stringify(neutralLine(text, 80))}\n`
}

/** The first words in a message, in whichever form its provider has. */
function spoken(message: Json | undefined): string | undefined {
  if (typeof message === 'string') return message
  if (Array.isArray(message)) return message.map((part) => spoken(part as Json)).find((text) => text !== undefined)
  return isMap(message)
    ? spoken((message['content'] ?? message['parts'] ?? message['text']) as Json | undefined)
    : undefined
}
