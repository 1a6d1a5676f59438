import Anthropic from '@anthropic-ai/sdk'
import { createOpenAI } from '@ai-sdk/openai'
import { generateText } from 'ai'
import got from 'got'
import type { Scenario } from './scenario.ts'
import { complete, openai } from './streams.ts'

/** Clients that wait and try again, and timers that race an answer. */
export const retries: Readonly<Record<string, Scenario>> = {
  'openai tries again after two resets': { run: (place) => complete(openai(place, 'resetx2')), timers: 2 },
  'openai waits out two 429 with retry-after': { run: (place) => complete(openai(place, '429x2r1')), timers: 2 },
  'openai backs off from two 500': { run: (place) => complete(openai(place, '500x2')), timers: 2 },
  'openai gives up after three 429': { run: (place) => complete(openai(place, '429x9r1')), timers: 2 },
  'anthropic waits out two 529 with retry-after': {
    run: async (place) => {
      const client = new Anthropic({ apiKey: 'test-key', baseURL: place.faulty('529x2r1') })
      const messages = [{ role: 'user' as const, content: 'x' }]
      return (await client.messages.create({ model: 'm', max_tokens: 9, messages })).content
    },
    timers: 2,
  },
  'the AI SDK waits out two 429 with retry-after': {
    run: async (place) => {
      const provider = createOpenAI({ apiKey: 'test-key', baseURL: `${place.faulty('429x2r1')}/v1` })
      return (await generateText({ model: provider.chat('m'), prompt: 'x' })).text
    },
    timers: 2,
  },
  'got waits out two 503 with retry-after': {
    run: (place) => got(`${place.faulty('503x2r1')}/x`).json(),
    timers: 2,
  },
  'a timer of 30 ms beats an answer of 80 ms': { run: (place) => race(place.faulty('lat80'), 30), timers: 1 },
  'an answer of 20 ms beats a timer of 60 ms': { run: (place) => race(place.faulty('lat20'), 60) },
}

async function race(base: string, limitMs: number): Promise<string> {
  const answer = fetch(`${base}/x`)
    .then((response) => response.json())
    .then(() => 'answer')
  const timer = new Promise<string>((resolve) => setTimeout(resolve, limitMs, 'timer'))
  return Promise.race([answer, timer])
}
