import { tool } from '../../src/record/index.ts'

const look = tool('look', async (row: number) => {
  await Promise.resolve()
  return { row, seen: `row ${row}` }
})

interface Message {
  readonly role: string
  readonly content: string | null
  readonly tool_calls?: readonly { readonly id: string; readonly function: { readonly arguments: string } }[]
}

/** Asks a model which row is next, with the last twenty messages, and looks at it, until the model is done. */
export async function longAgent({ base }: { readonly base: string }): Promise<string | null> {
  const messages: object[] = [{ role: 'user', content: 'Look at every row.' }]
  for (;;) {
    const response = await fetch(`${base}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-5', messages: messages.slice(-20) }),
    })
    const { choices } = (await response.json()) as { choices: [{ message: Message }] }
    const { message } = choices[0]
    messages.push(message)
    const [call] = message.tool_calls ?? []
    if (call === undefined) return message.content
    const { row } = JSON.parse(call.function.arguments) as { row: number }
    messages.push({ role: 'tool', tool_call_id: call.id, content: JSON.stringify(await look(row)) })
  }
}
