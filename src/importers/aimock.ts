import type { Cursor } from './cursor.ts'
import type { ForeignTurn } from './types.ts'

/**
 * One fixture of aimock (once llmock): whoever asks for something gets a text, or calls of tools. There is no request and
 * no byte of an answer in it.
 *
 * @see https://github.com/CopilotKit/aimock
 */
export function aimockTurn(fixture: Cursor): ForeignTurn {
  const response = fixture.at('response').map
  const asked = fixture.at('match').at('userMessage').maybeText
  const answered = response.at('content').maybeText
  const calls = response.at('toolCalls').isThere ? response.at('toolCalls').items : []
  return {
    ...(asked === undefined ? {} : { asked }),
    ...(answered === undefined ? {} : { answered }),
    toolCalls: calls.map((call) => ({ name: call.at('name').text, args: argsOf(call.at('arguments')) })),
  }
}

function argsOf(args: Cursor): unknown {
  if (args.maybeText === undefined) return args.value ?? {}
  try {
    return JSON.parse(args.text) as unknown
  } catch {
    // Models do write arguments that are no JSON; they stay text.
    return args.text
  }
}
