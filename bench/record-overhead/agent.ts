import type { Heard } from './lines.ts'

/** Why the bars of time are not kept; the figures are those of docs/performance.md. */
export const shortfall =
  'Behind the figure stand two floors, measured in turn: a recorder that is told of no run, and the same with the lines alone, which the service writes by itself: a file for each run, a line of JSON with a digest before each request leaves and before each answer is acted on, nothing redacted, no header kept. No recorder that loses nothing to a kill is under the second one. A bare loopback call takes 0.2 to 0.3 ms of processor time: 1.10 leaves 20 to 30 µs for a call and its share of the run, 1.25 leaves 50 to 75. All that is ours takes 60 µs in a loop that fetches nothing, files in memory. Beside fetches it takes 150, for its code and data leave the caches, and what is not ours takes 90 more than without a recorder: 33 of them to hand the request to the network, the rest in undici and Node (sampled, 24,000 calls on a busy machine). Of the 150, redaction is 50, the lines are 54 with their two writes of 10 each, and hearing the call is 30. Fifty that wait for one model are answered together, so each waits for what the others take. Writing later or together would lose the last events of a process that is killed; docs/performance.md says what else was tried.'
/** What no recorder of this kind is under: one that is told of no run, measured in the same rounds. */
export const floor = 'armed and deaf'
/** The same, and the lines written that a kill must not lose: see `lines.ts`. */
export const writing = 'armed, and the lines alone'
/** Calls of the form in which recorders are compared. */
export const callCount = 300
/** Model calls of one run. */
export const callsPerRun = 4

const system =
  'You are the support agent of a shop. Be polite. Look an order up before you refund it, and never refund more than was paid. '
const tools = [
  {
    type: 'function',
    function: {
      name: 'lookup_order',
      description: 'Looks an order up by its number: where it is, what was paid.',
      parameters: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
    },
  },
  {
    type: 'function',
    function: {
      name: 'refund',
      description: 'Refunds an order, whole or in part.',
      parameters: {
        type: 'object',
        properties: { id: { type: 'string' }, amount: { type: 'number' } },
        required: ['id', 'amount'],
      },
    },
  },
]

interface Answer {
  readonly choices: readonly { readonly message: { readonly content: string; readonly tool_calls: unknown } }[]
}

/** Asks the model once. */
export async function ask(base: string, question: object, heard?: Heard): Promise<unknown> {
  const body = JSON.stringify(question)
  heard?.({ request: body })
  const response = await fetch(`${base}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer sk-invented-0123456789abcdefghij' },
    body,
  })
  if (heard === undefined) return response.json()
  const answer = await response.text()
  heard({ answer })
  return JSON.parse(answer)
}

/** Asks the model four times and sends the whole conversation each time, as agents do: 1.5 to 4 KB a request. */
export async function supportAgent(base: string, text: string, heard?: Heard): Promise<{ readonly answer: string }> {
  const messages: unknown[] = [
    { role: 'system', content: system.repeat(4) },
    { role: 'user', content: text },
  ]
  let answer = ''
  for (let call = 0; call < callsPerRun; call++) {
    const { choices } = (await ask(base, { model: 'invented-1', messages, tools }, heard)) as Answer
    const message = choices[0]!.message
    answer = message.content
    messages.push(message, { role: 'tool', tool_call_id: `call_${call}`, content: '{"status":"delivered","paid":25}' })
  }
  return { answer }
}
