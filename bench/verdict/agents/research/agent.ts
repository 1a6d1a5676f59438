// Answers questions about contracts: the responses of OpenAI, a search of its own, and tools the provider runs.
import OpenAI from 'openai'
import { retriever } from '../../../../src/record/index.ts'

interface Question {
  readonly text: string
  readonly matter: string
  readonly earlier: string
}

const client = new OpenAI({ apiKey: process.env['OPENAI_API_KEY'] ?? 'sk-not-a-key', maxRetries: 0 })

const instructions = `You are a paralegal at Holm & Partners. Quote the clause you rely on. Do not give advice on tax. If two clauses conflict, the later one prevails. Answer in at most 120 words.`

const search = retriever('clauses', async ({ text, top }: { text: string; matter: string; top: number }) => {
  const all = ['§4 Notice: 30 days in writing.', '§9 Liability is limited to 50 000 EUR.', '§12 Danish law applies.']
  return all.slice(0, top).map((clause, rank) => ({ clause, rank, text }))
})

const tools: OpenAI.Responses.Tool[] = [
  {
    type: 'function',
    name: 'search_clauses',
    description: 'Finds clauses of the contract by meaning. Ask once per topic.',
    strict: false,
    parameters: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  },
  { type: 'file_search', vector_store_ids: ['vs_holm_contracts'], max_num_results: 8 },
  { type: 'mcp', server_label: 'register', server_url: 'https://register.example/mcp', require_approval: 'never' },
]

/** Lets the model search, and returns what it says. */
export async function agent(question: Question): Promise<string> {
  const input: OpenAI.Responses.ResponseInput = [
    { role: 'user', content: `Matter ${question.matter}. ${question.text}` },
  ]
  for (let turn = 0; turn < 5; turn++) {
    const response = await client.responses.create({
      model: 'gpt-5',
      instructions,
      input,
      tools,
      previous_response_id: question.earlier,
      reasoning: { effort: 'medium' },
      max_output_tokens: 2_000,
    })
    const calls = response.output.filter((item) => item.type === 'function_call')
    if (calls.length === 0) return response.output_text
    input.push(...(response.output as OpenAI.Responses.ResponseInput))
    for (const call of calls) {
      const { text } = JSON.parse(call.arguments) as { text: string }
      const found = await search({ text, matter: question.matter, top: 3 })
      input.push({ type: 'function_call_output', call_id: call.call_id, output: JSON.stringify(found) })
    }
  }
  throw new Error('no answer after 5 turns')
}
