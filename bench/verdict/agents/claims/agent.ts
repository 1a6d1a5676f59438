// Insurance claims: the SDK of Anthropic, blocks and a document in the question, examples, and a tool of its own.
import Anthropic from '@anthropic-ai/sdk'
import { tool, value } from '../../../../src/record/index.ts'

interface Claim {
  readonly number: string
  readonly report: string
  readonly amount: number
  readonly policy: string
}

const client = new Anthropic({ apiKey: process.env['ANTHROPIC_API_KEY'] ?? 'sk-ant-not-a-key', maxRetries: 0 })

const rules =
  'You decide on claims of household insurance. Pay at most 2500 EUR without a person. Never pay for theft unless the police were told. Water damage is paid in full.'

const examples: Anthropic.MessageParam[] = [
  { role: 'user', content: 'Claim 1: my bicycle was stolen. I did not call the police. 400 EUR' },
  { role: 'assistant', content: 'DECLINE: theft without a report to the police.' },
  { role: 'user', content: 'Claim 2: the washing machine flooded the kitchen. 900 EUR' },
  { role: 'assistant', content: 'PAY 900: water damage.' },
]

const decide = tool(
  'decide_claim',
  async (decision: { claim: string; verdict: string; amount: number; reason: string }) => ({
    booked: decision.amount,
  }),
)

const offered: Anthropic.Tool[] = [
  {
    name: 'decide',
    description: 'Books the decision. It is final and the customer is told at once.',
    input_schema: {
      type: 'object',
      properties: {
        verdict: { type: 'string', enum: ['pay', 'decline', 'person'] },
        amount: { type: 'number' },
        reason: { type: 'string' },
      },
      required: ['verdict', 'amount'],
    },
  },
]

/** Decides on a claim, once. */
export async function agent(claim: Claim): Promise<string> {
  const rate = value('rate of the day', () => 1.08)
  const messages: Anthropic.MessageParam[] = [
    ...examples,
    {
      role: 'user',
      content: [
        { type: 'document', source: { type: 'text', media_type: 'text/plain', data: claim.policy }, title: 'Policy' },
        {
          type: 'text',
          text: `Claim ${claim.number}: ${claim.report} ${claim.amount} EUR (${(claim.amount * rate).toFixed(2)} USD)`,
        },
      ],
    },
  ]
  for (let turn = 0; turn < 4; turn++) {
    const stream = client.messages.stream({
      model: 'claude-sonnet-4',
      max_tokens: 1_024,
      // Not in the types of every version of the SDK.
      ...{ temperature: 0.3 },
      stop_sequences: ['END'],
      system: rules,
      messages,
      tools: offered,
    })
    const answer = await stream.finalMessage()
    messages.push({ role: 'assistant', content: answer.content })
    const calls = answer.content.filter((block) => block.type === 'tool_use')
    if (calls.length === 0)
      return answer.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('')
    const results: Anthropic.ToolResultBlockParam[] = []
    for (const call of calls) {
      const { verdict, amount, reason } = call.input as { verdict: string; amount: number; reason: string }
      const booked = await decide({ claim: claim.number, verdict, amount: Math.min(amount, 2_500), reason })
      results.push({ type: 'tool_result', tool_use_id: call.id, content: JSON.stringify(booked) })
    }
    messages.push({ role: 'user', content: results })
  }
  throw new Error('undecided after 4 turns')
}
