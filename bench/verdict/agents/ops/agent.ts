// On call: the SDK of Google, tools that read and act, and a status page.
import { type Content, GoogleGenAI } from '@google/genai'
import { tools } from '../../../../src/record/index.ts'

interface Alert {
  readonly service: string
  readonly text: string
  readonly runbook: string
}

const client = new GoogleGenAI({ apiKey: process.env['GEMINI_API_KEY'] ?? 'not-a-key' })
const region = 'eu-north-1'

const instruction =
  'You are on call for payments. Prefer a rollback to a restart. Never touch the ledger. Page the owner only if two attempts failed.'

const platform = tools({
  get_metrics: async (_asked: { service: string; minutes: number }) => ({ errors: 7.5 }),
  list_deploys: async (_asked: { service: string; limit: number }) => ({ deploys: ['v42', 'v41'] }),
  rollback: async (asked: { service: string; version: string; region: string }) => ({ now: asked.version }),
})

const declared = [
  {
    name: 'get_metrics',
    description: 'Error rate of a service over the last minutes.',
    parametersJsonSchema: { type: 'object', properties: { minutes: { type: 'integer' } } },
  },
  {
    name: 'list_deploys',
    description: 'Versions that were deployed, newest first.',
    parametersJsonSchema: { type: 'object', properties: {} },
  },
  {
    name: 'rollback',
    description: 'Puts an older version in the place of the current one.',
    parametersJsonSchema: { type: 'object', properties: { version: { type: 'string' } }, required: ['version'] },
  },
]

/** Looks, acts and tells the status page. */
export async function agent(alert: Alert): Promise<string> {
  const contents: Content[] = [
    { role: 'user', parts: [{ text: `Runbook:\n${alert.runbook}` }] },
    { role: 'model', parts: [{ text: 'I have read it.' }] },
    { role: 'user', parts: [{ text: `Alert for ${alert.service}: ${alert.text}` }] },
  ]
  for (let turn = 0; turn < 6; turn++) {
    const response = await client.models.generateContent({
      model: 'gemini-3-pro',
      contents,
      config: {
        systemInstruction: instruction,
        temperature: 0.2,
        maxOutputTokens: 800,
        tools: [{ functionDeclarations: declared }],
      },
    })
    const calls = response.functionCalls ?? []
    if (calls.length === 0) {
      const text = response.text ?? ''
      await tell(alert.service, text)
      return text
    }
    const results = await Promise.all(
      calls.map(async ({ name = '', args = {} }) => ({ name, output: await act(name, args) })),
    )
    contents.push(response.candidates![0]!.content!)
    contents.push({
      role: 'user',
      parts: results.map(({ name, output }) => ({ functionResponse: { name, response: { output } } })),
    })
  }
  throw new Error('still on call after 6 turns')

  async function act(name: string, args: Record<string, unknown>): Promise<unknown> {
    if (name === 'get_metrics') return platform.get_metrics({ service: alert.service, minutes: 30 })
    if (name === 'list_deploys') return platform.list_deploys({ service: alert.service, limit: 5 })
    return platform.rollback({ service: alert.service, version: String(args['version']), region })
  }
}

async function tell(service: string, text: string): Promise<void> {
  const query = new URLSearchParams({ service, region, notify: 'subscribers' })
  const response = await fetch(`${process.env['GATEWAY']}/status/incidents?${query.toString()}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Basic ${process.env['STATUS_KEY'] ?? 'c3RhdHVzOm5vdC1hLWtleQ=='}`,
      'x-project-id': 'payments',
    },
    body: JSON.stringify({ text, state: 'monitoring' }),
  })
  if (!response.ok) throw new Error(`status page: ${response.status}`)
}
