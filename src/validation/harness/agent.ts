import { AsyncLocalStorage } from 'node:async_hooks'
import { message, retriever, tool } from '../../seam/index.ts'
import { openBooks } from './books.ts'
import type { BookEntry } from './ledger.ts'
import { wordOf } from './mind.ts'
import { luckHeader } from './model-server.ts'
import type { AssistantMessage, ChatAnswer, ChatChunk, FunctionCall, OpenAiClient, OpenAiSdk } from './sdk.ts'
import type { Luck, World } from './world.ts'

/** What the agent is called with, and what stands on its tape. */
export interface LedgerInput {
  /** Address of the model and of the service. */
  readonly base: string
}

export interface AgentOptions {
  /** A question to whose answer it does not listen for long. Every other one it gives half a minute. */
  readonly hasty?: { readonly question: number; readonly timeoutMs: number }
  /** From which question on it asks otherwise, and what was changed. */
  readonly change?: { readonly from: number; readonly to: AgentChange }
}

/**
 * What someone has changed of the agent: a line of its code, its prompt, the schema of its tools; what it answers beside
 * the total (`unit`), or the total itself (`total`).
 */
export type AgentChange = 'code' | 'prompt' | 'schema' | 'unit' | 'total'

export interface LedgerAnswer {
  readonly total: number
  readonly unit?: string
}

/** The luck of the run whose code is running. A fork is a run like any other: it gets its own. */
export const luckOfRun = new AsyncLocalStorage<Luck>()

/**
 * The agent whose runs are planted: a loop of questions and tool calls over the real SDK, with tools, a search, a service
 * and other agents to ask. It is ordinary code: nothing in it knows whether it is recorded, replayed or forked.
 *
 * @param options - `hasty`: default none. `change`: the agent as it is after someone has worked on it, default as it was
 */
export function ledgerAgent(sdk: OpenAiSdk, world: World, { hasty, change }: AgentOptions = {}) {
  return async (input: LedgerInput): Promise<LedgerAnswer> => {
    const luck = luckOfRun.getStore() ?? ''
    const client = new sdk({
      apiKey: 'none',
      baseURL: input.base,
      maxRetries: world.retries,
      timeout: 30_000,
      logLevel: 'off',
    })
    const desk = openDesk(client, world, luck, input.base)
    const messages: object[] = [
      { role: 'system', content: 'auditor' },
      { role: 'user', content: 'Add up the ledger.' },
    ]
    for (let question = 0; question <= world.entries.length; question++) {
      let answer: AssistantMessage
      try {
        const isChanged = change !== undefined && question >= change.from
        answer = await ask(client, world, luck, messages, {
          ...(isChanged && { change: change.to }),
          ...(hasty?.question === question && { timeout: hasty.timeoutMs }),
        })
      } catch (error) {
        if (world.onError === 'throw') throw error
        messages.push({ role: 'user', content: `No answer to question ${question}. Go on.` })
        continue
      }
      messages.push(answer)
      if (answer.tool_calls === undefined)
        return answered(JSON.parse(answer.content ?? 'null') as LedgerAnswer, change?.to)
      // Answers are noted as they arrive.
      await Promise.all(answer.tool_calls.map(async (call) => void messages.push(...(await desk(call)))))
    }
    throw new Error('the model went on asking')
  }
}

function answered(answer: LedgerAnswer, change: AgentChange | undefined): LedgerAnswer {
  if (change === 'total') return { total: answer.total + 1 }
  return change === 'unit' ? { ...answer, unit: 'EUR' } : answer
}

async function ask(
  client: OpenAiClient,
  { isStreamed, model }: World,
  luck: Luck,
  messages: readonly object[],
  { change, ...limits }: { readonly change?: AgentChange; readonly timeout?: number } = {},
): Promise<AssistantMessage> {
  const body = { model, messages: [...messages], tools: functions, ...(isStreamed && { stream: true }) }
  const answer = await client.chat.completions.create(change === undefined ? body : changed(body, change), {
    headers: { [luckHeader]: luck },
    ...limits,
  })
  const said = Symbol.asyncIterator in answer ? await gather(answer) : firstOf(answer)
  for (const call of said.tool_calls ?? []) JSON.parse(call.function.arguments)
  return said
}

function changed(body: { readonly messages: readonly object[] }, change: AgentChange): object {
  const { messages } = body
  switch (change) {
    case 'code':
    case 'unit':
    case 'total':
      // It has begun to say when it asks.
      return { ...body, metadata: { asked: messages.length } }
    case 'prompt':
      return { ...body, messages: [{ role: 'system', content: 'auditor, and a careful one' }, ...messages.slice(1)] }
    case 'schema':
      return { ...body, tools: functions.map((one) => ({ ...one, strict: true })) }
  }
}

function firstOf({ choices }: ChatAnswer): AssistantMessage {
  const [choice] = choices
  if (choice === undefined) throw new Error('no choice')
  return choice.message
}

async function gather(chunks: AsyncIterable<ChatChunk>): Promise<AssistantMessage> {
  let content = ''
  const calls: { id: string; name: string; args: string }[] = []
  for await (const { choices } of chunks) {
    content += choices[0]?.delta.content ?? ''
    for (const { index, id, function: piece } of choices[0]?.delta.tool_calls ?? []) {
      const call = (calls[index] ??= { id: id ?? '', name: piece?.name ?? '', args: '' })
      call.args += piece?.arguments ?? ''
    }
  }
  if (calls.length === 0) return { role: 'assistant', content }
  const tool_calls = calls.map(
    ({ id, name, args }): FunctionCall => ({ id, type: 'function', function: { name, arguments: args } }),
  )
  return { role: 'assistant', content, tool_calls }
}

const functions = ['read_entry', 'search_entries', 'fetch_instruction', 'ask_clerk'].map((name) => ({
  type: 'function',
  function: {
    name,
    parameters: { type: 'object', properties: { entry: { type: 'integer' }, year: { type: 'integer' } } },
  },
}))

interface Question {
  readonly entry: number
  readonly year: number
}

/** Everything the model can ask for, as messages that tell it. */
function openDesk(client: OpenAiClient, world: World, luck: Luck, base: string) {
  const books = openBooks(world, luck)
  const readEntry = tool('read_entry', books.read)
  const searchEntries = retriever('search_entries', async (question: Question) => [await books.read(question)])
  const deliver = tool('deliver', books.deliver)

  async function fetchInstruction({ entry }: Question): Promise<BookEntry> {
    const response = await fetch(`${base}/instructions/${entry}`, { headers: { [luckHeader]: luck } })
    return (await response.json()) as BookEntry
  }

  /** Another agent: it looks the entry up, puts it into words with its own model, and sends them. */
  async function askClerk(question: Question): Promise<readonly string[]> {
    const read = await readEntry(question)
    const { content } = await ask(client, { ...world, isStreamed: false }, luck, [
      { role: 'system', content: 'clerk' },
      { role: 'user', content: JSON.stringify(read) },
    ])
    const clerk = `clerk-${question.entry % 3}`
    message(clerk, 'auditor', content)
    return await deliver({ from: clerk, to: 'auditor', entry: question.entry, words: content ?? '' })
  }

  return async ({ id, function: { name, arguments: json } }: FunctionCall): Promise<readonly object[]> => {
    const question = JSON.parse(json) as Question
    const told = (content: string): object => ({ role: 'tool', tool_call_id: id, content })
    try {
      switch (name) {
        case 'read_entry':
          return [told(wordOf(await readEntry(question)))]
        case 'search_entries':
          return [told((await searchEntries(question)).map(wordOf).join('\n'))]
        case 'fetch_instruction':
          return [told('As instructed.'), { role: 'system', content: wordOf(await fetchInstruction(question)) }]
        case 'ask_clerk':
          return [told('Asked.'), ...(await askClerk(question)).map((content) => ({ role: 'user', content }))]
        default:
          return [told(`There is no ${name}.`)]
      }
    } catch (error) {
      return [told(`error: ${(error as Error).message}`)]
    }
  }
}
