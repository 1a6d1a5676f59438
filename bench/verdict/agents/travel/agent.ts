// Books journeys: the AI SDK, its loop and its tools.
import { createOpenAI } from '@ai-sdk/openai'
import { generateText, type ModelMessage, stepCountIs, tool } from 'ai'
import { z } from 'zod'
import { tools } from '../../../../src/record/index.ts'

interface Wish {
  readonly traveller: string
  readonly text: string
  readonly turns: readonly ModelMessage[]
}

const provider = createOpenAI({ apiKey: process.env['OPENAI_API_KEY'] ?? 'sk-not-a-key' })

const system =
  'You book trains for the staff of Nordlicht GmbH. Always prefer the train to the plane. First class only above four hours. Never book before the traveller has said yes.'

const desk = tools({
  find_trains: tool({
    description: 'Finds trains between two stations on a day.',
    inputSchema: z.object({ from: z.string(), to: z.string(), day: z.string() }),
    execute: async ({ from, to, day }) => {
      const response = await fetch(`https://inside-tools.example/trains?from=${from}&to=${to}&day=${day}`)
      return (await response.json()) as { trains: string[] }
    },
  }),
  book: tool({
    description: 'Books a seat. It costs money and cannot be cancelled.',
    inputSchema: z.object({ train: z.string(), seats: z.number(), firstClass: z.boolean() }),
    execute: async ({ train, seats, firstClass }) => ({ booked: train, seats, firstClass }),
  }),
})

/** Finds a train and books it, in the loop of the SDK. */
export async function agent(wish: Wish): Promise<string> {
  const { text } = await generateText({
    model: provider.chat('gpt-4.1'),
    system,
    messages: [...wish.turns, { role: 'user', content: `${wish.traveller}: ${wish.text}` }],
    tools: desk,
    temperature: 0.1,
    maxOutputTokens: 500,
    stopWhen: stepCountIs(6),
    maxRetries: 0,
  })
  const saved = await fetch('https://journeys.nordlicht.example/v1/notes', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-workspace': 'nordlicht', prefer: 'return=minimal' },
    body: JSON.stringify({ traveller: wish.traveller, note: text }),
  })
  if (!saved.ok) throw new Error(`note: ${saved.status}`)
  return text
}
