import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import OpenAI from 'openai'

const gateway = `${process.env['GATEWAY']}/docs`
const openai = new OpenAI({ baseURL: `${gateway}/v1`, apiKey: process.env['OPENAI_API_KEY'] ?? 'sk-not-a-key' })

interface Task {
  readonly folder: string
  readonly word: string
  readonly mayWrite: boolean
}

const maxCharacters = 120

/** Finds the files of a folder that hold a word and writes an index of them, with the tools of an MCP server. */
export async function agent(task: Task): Promise<{ readonly answer: string | null; readonly written: number }> {
  const client = new Client({ name: 'docs', version: '1.0.0' })
  const transport = new StreamableHTTPClientTransport(new URL(`${gateway}/mcp`))
  // The SDK's own class does not satisfy its own interface under exactOptionalPropertyTypes.
  await client.connect(transport as Parameters<Client['connect']>[0])
  const { tools } = await client.listTools()
  const allowed = tools.filter(({ annotations }) => task.mayWrite || annotations?.readOnlyHint === true)
  const offered = allowed
    .filter(({ name }) => name !== 'delete_file')
    .map(({ name, description = '', inputSchema }) => ({
      type: 'function' as const,
      function: { name, description, parameters: inputSchema },
    }))
  const messages: OpenAI.ChatCompletionMessageParam[] = [
    { role: 'system', content: 'You keep an index of documents. Read before you write.' },
    { role: 'user', content: `Index the files in ${task.folder} that mention "${task.word}".` },
  ]
  let written = 0
  try {
    for (let turn = 0; turn < 10; turn++) {
      const { choices } = await openai.chat.completions.create({ model: 'gpt-5', messages, tools: offered })
      const { message } = choices[0]!
      messages.push(message)
      if (!message.tool_calls?.length) return { answer: message.content, written }
      for (const call of message.tool_calls) {
        if (call.type !== 'function') continue
        const content = await runTool(call.function.name, JSON.parse(call.function.arguments) as Args)
        messages.push({ role: 'tool', tool_call_id: call.id, content })
      }
    }
    throw new Error('no index after 10 turns')
  } finally {
    await client.close()
  }

  async function runTool(name: string, args: Args): Promise<string> {
    const path = args['path'] ?? ''
    if (name === 'write_file' && !path.startsWith(`${task.folder}/`)) return `refused: ${path} is outside`
    const { content, isError } = await client.callTool({ name, arguments: args })
    const text = (content as { type: string; text: string }[]).map((part) => part.text).join('\n')
    if (isError) return `error: ${text}`
    if (name === 'write_file') written++
    return text.slice(0, maxCharacters)
  }
}

type Args = Record<string, string>
