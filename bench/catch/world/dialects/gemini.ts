import type { Dialect, Heard } from '../types.ts'

interface Content {
  readonly role?: string
  readonly parts?: readonly {
    readonly text?: string
    readonly functionCall?: { readonly name: string; readonly args?: Heard['args'] }
    readonly functionResponse?: { readonly name: string; readonly response: unknown }
  }[]
}

interface Body {
  readonly model?: string
  readonly systemInstruction?: Content
  readonly contents: readonly Content[]
  readonly tools?: readonly { readonly functionDeclarations?: readonly { readonly name: string }[] }[]
}

/** Gemini's generateContent. Its calls have no ids: results stand in the order of the calls. */
export const gemini: Dialect = {
  read: (body) => {
    const { model = '', systemInstruction, contents, tools = [] } = body as Body
    const waiting: { readonly name: string; readonly args: Heard['args'] }[] = []
    const results: Heard[] = []
    for (const { functionCall, functionResponse } of contents.flatMap(({ parts = [] }) => parts)) {
      if (functionCall !== undefined) waiting.push({ name: functionCall.name, args: functionCall.args ?? {} })
      if (functionResponse === undefined) continue
      const at = waiting.findIndex(({ name }) => name === functionResponse.name)
      const [call] = at === -1 ? [] : waiting.splice(at, 1)
      if (call !== undefined) results.push({ ...call, text: JSON.stringify(functionResponse.response) })
    }
    const textOf = ({ parts = [] }: Content) => parts.map(({ text = '' }) => text).join('')
    return {
      model,
      system: textOf(systemInstruction ?? {}),
      user: contents.filter(({ role }) => role === 'user').map(textOf),
      tools: tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations.map(({ name }) => name)),
      results,
    }
  },
  write: (decision, body, id) => ({
    candidates: [
      {
        content: {
          role: 'model',
          parts:
            typeof decision === 'string' ? [{ text: decision }] : decision.map((functionCall) => ({ functionCall })),
        },
        finishReason: 'STOP',
        index: 0,
      },
    ],
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
    modelVersion: (body as Body).model,
    responseId: id(''),
  }),
}
