import { createOpenAI } from '@ai-sdk/openai'
import { generateText, isStepCount, tool } from 'ai'
import { z } from 'zod'
import { tools } from '../../../../src/record/index.ts'

const gateway = `${process.env['GATEWAY']}/travel`
const openai = createOpenAI({ baseURL: `${gateway}/v1`, apiKey: process.env['OPENAI_API_KEY'] ?? 'sk-not-a-key' })

interface Trip {
  readonly traveller: string
  readonly from: string
  readonly to: string
  readonly depart: string
  readonly nights: number
}

const holdHours = 24

/** Finds a flight and a room, holds both, waits until a person approves, books. */
export async function agent(trip: Trip): Promise<{ readonly text: string; readonly booked: boolean }> {
  let booked = false
  const { text: plan } = await generateText({
    model: openai.chat('gpt-5'),
    system: 'You book business trips. Book only what was approved.',
    prompt: `Book a trip for ${trip.traveller}: ${trip.from} to ${trip.to}, ${trip.depart}, ${trip.nights} nights.`,
    stopWhen: isStepCount(8),
    maxRetries: 0,
    tools: tools({
      search_flights: tool({
        description: 'Flights of a day',
        inputSchema: z.object({ from: z.string(), to: z.string(), date: z.string() }),
        execute: async ({ from, to, date }) => ask(`/flights?from=${from}&to=${to}&date=${date}`),
      }),
      search_hotels: tool({
        description: 'Rooms in a city',
        inputSchema: z.object({ city: z.string(), checkin: z.string(), nights: z.number() }),
        execute: async ({ city, checkin, nights }) => ask(`/hotels?city=${city}&checkin=${checkin}&nights=${nights}`),
      }),
    }),
  })
  const text = await settle()
  return { text, booked }

  /** What follows a plan is code, not the model's decision. */
  async function settle(): Promise<string> {
    const [, flight, hotel, total] = /PLAN flight=(\S+) hotel=(\S+) total=(\S+)/.exec(plan) ?? []
    if (flight === undefined || hotel === undefined) return plan
    const until = new Date(Date.parse(trip.depart) - holdHours * 3_600_000).toISOString()
    const { hold_id } = await ask('/holds', { flight, hotel, traveller: trip.traveller, until })
    await ask('/approvals', { hold_id, total: Number(total), traveller: trip.traveller })
    for (let poll = 0; poll < 5; poll++) {
      const { status } = await ask(`/approvals/${hold_id}`)
      if (status === 'rejected') break
      if (status === 'approved') {
        await ask('/bookings', { hold_id, reference: crypto.randomUUID() })
        booked = true
        await ask('/mails', { to: trip.traveller, subject: `Your trip to ${trip.to}` })
        return `Booked ${flight} and ${hotel} for ${total} EUR.`
      }
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    await ask('/holds/release', { hold_id })
    return `Nobody approved ${flight} and ${hotel}.`
  }
}

async function ask(path: string, body?: object): Promise<Record<string, string>> {
  const response = await fetch(`${gateway}/api${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { accept: 'application/json', ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  if (!response.ok) throw new Error(`${path}: ${response.status}`)
  return (await response.json()) as Record<string, string>
}
