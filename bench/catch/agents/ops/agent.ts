import { setTimeout as sleep } from 'node:timers/promises'
import { type Content, GoogleGenAI } from '@google/genai'
import { mark, tools } from '../../../../src/record/index.ts'

const gateway = `${process.env['GATEWAY']}/ops`

interface Alert {
  readonly service: string
  readonly at: string
  readonly text: string
}

type Args = Record<string, string | number>

const platform = tools({
  get_metrics: async ({ service, minutes }: Args) => ask('GET', `/metrics/${service}?minutes=${minutes}`),
  list_deploys: async ({ service, since }: Args) => ask('GET', `/deploys/${service}?since=${since}`),
  rollback: async ({ service, version }: Args) => ask('POST', '/rollbacks', { service, version }),
  restart: async ({ service }: Args) => ask('POST', '/restarts', { service }),
  page: async ({ team, text }: Args) => ask('POST', '/pages', { team, text }),
})

const declared = ['get_metrics', 'list_deploys', 'rollback', 'restart', 'page'].map((name) => ({
  name,
  description: `Platform: ${name}`,
  parametersJsonSchema: { type: 'object', properties: {} },
}))

const protectedServices = ['payments', 'ledger']
const windowMinutes = 30

/** Looks at an alert, rolls back what a deploy broke, and pages whoever owns a protected service. */
export async function agent(alert: Alert): Promise<{ readonly report: string; readonly actions: readonly string[] }> {
  const client = new GoogleGenAI({
    apiKey: process.env['GEMINI_API_KEY'] ?? 'not-a-key',
    httpOptions: { baseUrl: gateway },
  })
  const since = new Date(Date.parse(alert.at) - windowMinutes * 60_000).toISOString()
  const contents: Content[] = [
    {
      role: 'user',
      parts: [{ text: `Alert at ${alert.at} for ${alert.service}: ${alert.text}. Deploys since ${since} count.` }],
    },
  ]
  const actions: string[] = []
  for (let turn = 0; turn < 8; turn++) {
    const response = await patient(() =>
      client.models.generateContent({
        model: 'gemini-3-pro',
        contents,
        config: {
          systemInstruction: 'You are on call. Prefer a rollback to a restart.',
          tools: [{ functionDeclarations: declared }],
        },
      }),
    )
    const calls = response.functionCalls ?? []
    if (calls.length === 0) {
      mark('done', { turns: turn + 1 })
      await ask('POST', '/timeline', { service: alert.service, actions })
      return { report: response.text ?? '', actions }
    }
    const results = await Promise.all(
      calls.map(async ({ name = '', args = {} }) => ({ name, output: await act(name, args as Args) })),
    )
    contents.push(response.candidates![0]!.content!)
    contents.push({
      role: 'user',
      parts: results.map(({ name, output }) => ({ functionResponse: { name, response: { output } } })),
    })
  }
  throw new Error('still on call after 8 turns')

  async function act(name: string, args: Args): Promise<unknown> {
    switch (name) {
      case 'get_metrics':
        return platform.get_metrics({ service: args['service']!, minutes: windowMinutes })
      case 'list_deploys':
        return platform.list_deploys({ service: args['service']!, since })
      case 'rollback':
      case 'restart': {
        const service = String(args['service'])
        if (protectedServices.includes(service)) return { refused: `${service} is protected, page its team` }
        actions.push(`${name} ${service}`)
        return name === 'rollback'
          ? platform.rollback({ service, version: args['version']! })
          : platform.restart({ service })
      }
      case 'page':
        actions.push(`page ${args['team']}`)
        return platform.page({ team: args['team']!, text: args['text']! })
      default:
        return { error: `no tool ${name}` }
    }
  }
}

/** The model is asked again when it is overloaded. */
async function patient<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (attempt === 3 || (error as { status?: number }).status !== 429) throw error
      await sleep(5 * 2 ** attempt)
    }
  }
}

async function ask(method: string, path: string, body?: object): Promise<unknown> {
  const response = await fetch(`${gateway}/api${path}`, {
    method,
    ...(body !== undefined && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  })
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status}`)
  return response.json()
}
