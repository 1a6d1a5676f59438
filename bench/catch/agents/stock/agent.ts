import { tool } from '@langchain/core/tools'
import { createReactAgent } from '@langchain/langgraph/prebuilt'
import { ChatOpenAI } from '@langchain/openai'
import { z } from 'zod'

const gateway = `${process.env['GATEWAY']}/stock`

interface Task {
  readonly sku: string
  readonly site: string
  readonly target: number
}

const sites = ['north', 'south', 'west']

/** Fills a site up to its target: from other sites first, the rest is ordered in whole boxes. */
export async function agent(task: Task): Promise<{ readonly answer: string; readonly missing: number }> {
  const stock = new Map<string, number>()
  let missing = task.target

  const levels = tool(
    async ({ sku }) => {
      const answers = await Promise.all(
        sites.map(async (site) => {
          const { units } = (await ask(`/levels/${site}/${sku}`)) as { units: number }
          return { site, units }
        }),
      )
      for (const { site, units } of answers) stock.set(site, units)
      missing = task.target - (stock.get(task.site) ?? 0)
      return JSON.stringify(Object.fromEntries(answers.map(({ site, units }) => [site, units])))
    },
    { name: 'stock_levels', description: 'Units at every site', schema: z.object({ sku: z.string() }) },
  )
  const supplier = tool(async ({ sku }) => JSON.stringify(await ask(`/suppliers?sku=${sku}`)), {
    name: 'supplier',
    description: 'Who delivers, and how many are in a box',
    schema: z.object({ sku: z.string() }),
  })
  const transfer = tool(
    async ({ sku, from, units }) => {
      const free = (stock.get(from) ?? 0) - 10
      const moved = Math.min(units, free, missing)
      if (moved <= 0) return JSON.stringify({ error: `${from} has none to spare` })
      await ask('/transfers', { sku, from, to: task.site, units: moved })
      stock.set(from, (stock.get(from) ?? 0) - moved)
      missing -= moved
      return JSON.stringify({ moved, missing })
    },
    {
      name: 'transfer',
      description: 'Moves units to the site',
      schema: z.object({ sku: z.string(), from: z.string(), units: z.number() }),
    },
  )
  const reorder = tool(
    async ({ sku, supplier_id, units, box }) => {
      const boxes = Math.ceil(Math.min(units, missing) / box)
      const { order } = (await ask('/orders', { sku, supplier_id, units: boxes * box })) as { order: string }
      missing -= boxes * box
      return JSON.stringify({ order, units: boxes * box })
    },
    {
      name: 'reorder',
      description: 'Orders at a supplier',
      schema: z.object({ sku: z.string(), supplier_id: z.string(), units: z.number(), box: z.number() }),
    },
  )

  const llm = new ChatOpenAI({
    model: 'gpt-5',
    apiKey: process.env['OPENAI_API_KEY'] ?? 'sk-not-a-key',
    configuration: { baseURL: `${gateway}/v1` },
  })
  const graph = createReactAgent({
    llm,
    tools: [levels, supplier, transfer, reorder],
    prompt: 'You keep sites in stock. Move what others can spare before you order.',
  })
  const { messages } = await graph.invoke(
    { messages: [{ role: 'user', content: `Fill ${task.site} up to ${task.target} units of ${task.sku}.` }] },
    { recursionLimit: 20 },
  )
  await ask('/audit', { sku: task.sku, site: task.site, missing })
  return { answer: String(messages.at(-1)?.content), missing }
}

async function ask(path: string, body?: object): Promise<unknown> {
  const response = await fetch(`${gateway}/api${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    ...(body !== undefined && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  })
  if (!response.ok) throw new Error(`${path}: ${response.status}`)
  return response.json()
}
