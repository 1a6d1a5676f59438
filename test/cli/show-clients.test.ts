import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { runInChild } from '../../fixtures/child/index.ts'
import { startProviderHere } from '../../fixtures/provider/index.ts'
import { ask } from './in-process.ts'

// Tapes of agents on the real SDKs. The provider runs here, so that what it makes up has the same length every time.
const dir = mkdtempSync(join(tmpdir(), 'harvest-show-'))
const names = [
  'openai-chat-stream',
  'openai-chat-json-wrapped',
  'openai-responses-json',
  'openai-agents',
  'openai-embeddings',
  'anthropic-stream',
  'google-genai',
  'bedrock-converse-stream',
  'mcp-stdio',
  'undici-request',
]

beforeAll(async () => {
  vi.spyOn(Math, 'random').mockReturnValue(0.52)
  const provider = await startProviderHere()
  const { base, h2base, tlsbase, tlsh2base } = provider
  try {
    await runInChild(new URL('../clients/record.child.ts', import.meta.url), {
      dir,
      names,
      addresses: { base, h2base, tlsbase, tlsh2base },
    })
  } finally {
    await provider.close()
    vi.restoreAllMocks()
  }
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

/** The steps and the end of a tape as `harvest show` prints them, without what differs from run to run. */
async function steps(name: string): Promise<string> {
  const { out } = await ask('show', join(dir, `${name}.tape.jsonl`))
  return (
    out
      .slice(out.indexOf('\n\n') + 2)
      .replace(/ +\+?[\d.]+ m?s(?=\s)/g, ' <time>')
      .replace(/^( +<time> {2}spawn) [^]*?(?=\n\S)/m, '$1 <command>')
      .replace(/127\.0\.0\.1:\d+/g, '127.0.0.1:<port>')
      .replace(/[\d.]+(?= degrees)/g, '<n>')
      .replace(/\br?[0-9a-f]{24}\b/g, '<id>')
      .replace(/at(\\?)":\d{13}/g, 'at$1":<now>')
      .replace(/(?<=returned )(?:\{"streamed"|\["It is")[^]*/, '<pieces>')
      // Which of both Node hears first is chance.
      .replace(/(.* push {2}ended: 0\n)(.* push {2}end of its output\n)/, '$2$1')
      // Whether an address fits into its line depends on how wide the times before it are.
      .replace(/http:\S+/g, '<address>')
  )
}

describe('harvest show, for agents on real SDKs', () => {
  it('OpenAI chat, streamed', async () => {
    expect(await steps('openai-chat-stream')).toMatchInlineSnapshot(`
      "1 <time> <time>  model  gpt-x  10 in, 5 out
         tools    get_weather
         user     What is the weather in Paris and Tokyo? [tag:openai-chat-stream]
         calls    get_weather(city: "Paris [tag:openai-chat-stream]")
         calls    get_weather(city: "Tokyo [tag:openai-chat-stream]")
      2 <time> <time>  model  gpt-x  10 in, 5 out
         prompt   tools as in step 1; goes on from step 1 (4 messages)
         tool     get_weather: Paris [tag:openai-chat-stream]: sunny
         tool     get_weather: Tokyo [tag:openai-chat-stream]: sunny
         said     It is <n> degrees. I heard Paris [tag:openai-chat-stream]:
                    sunny|Tokyo [tag:openai-chat-stream]: sunny. Reading
                    <id> [tag:openai-chat-stream]

      outcome   returned "It is <n> degrees. I heard Paris [tag:openai-chat-stream]:
                  sunny|Tokyo [tag:openai-chat-stream]: sunny. Reading
                  <id> [tag:openai-chat-stream]""
    `)
  })
  it('OpenAI chat with wrapped tools: what happened inside a tool stands below it', async () => {
    expect(await steps('openai-chat-json-wrapped')).toMatchInlineSnapshot(`
      "1 <time> <time>  model  gpt-x  10 in, 5 out
         tools    get_weather
         user     What is the weather in Paris and Tokyo?
                    [tag:openai-chat-json-wrapped]
         calls    get_weather(city: "Paris [tag:openai-chat-json-wrapped]")
         calls    get_weather(city: "Tokyo [tag:openai-chat-json-wrapped]")
      2 <time> <time>  tool   get_weather
         args     {"city":"Paris [tag:openai-chat-json-wrapped]"}
         result   {"tool":"weather","value":20.4,"at":<now>,"q":"Paris
                    [tag:openai-chat-json-wrapped]"}
        3 <time> <time>  http   GET <address>
           status   200
           body     {"tool":"weather","value":20.4,"at":<now>,"q":"Paris
                      [tag:openai-chat-json-wrapped]"}
      4 <time> <time>  tool   get_weather
         args     {"city":"Tokyo [tag:openai-chat-json-wrapped]"}
         result   {"tool":"weather","value":20.4,"at":<now>,"q":"Tokyo
                    [tag:openai-chat-json-wrapped]"}
        5 <time> <time>  http   GET <address>
           status   200
           body     {"tool":"weather","value":20.4,"at":<now>,"q":"Tokyo
                      [tag:openai-chat-json-wrapped]"}
      6 <time> <time>  model  gpt-x  10 in, 5 out
         prompt   tools as in step 1; goes on from step 1 (4 messages)
         tool     get_weather: as step 2 answered
         tool     get_weather: as step 4 answered
         said     It is <n> degrees. I heard {"tool":"weather","value":20.4,
                    "at":<now>,"q":"Paris
                    [tag:openai-chat-json-wrapped]"}|{"tool":"weather","value":20.4,
                    "at":<now>,"q":"Tokyo [tag:openai-chat-json-wrapped]"}.
                  … 64 more characters

      outcome   returned "It is <n> degrees. I heard {\\"tool\\":\\"weather\\",
                  \\"value\\":20.4,\\"at\\":<now>,\\"q\\":\\"Paris
                  [tag:openai-chat-json-wrapped]\\"}|{\\"tool\\":\\"weather\\",
                  \\"value\\":20.4,\\"at\\":<now>,\\"q\\":\\"Tokyo
                  [tag:openai-chat-json-wrapped]\\"}. Reading
                  <id> [tag:openai-chat-json-wrapped]""
    `)
  })
  it('OpenAI responses', async () => {
    expect(await steps('openai-responses-json')).toMatchInlineSnapshot(`
      "1 <time> <time>  model  gpt-x  10 in, 5 out
         system   You are a weather assistant.
         tools    get_weather
         user     What is the weather in Paris and Tokyo? [tag:openai-responses-json]
         calls    get_weather(city: "Paris [tag:openai-responses-json]")
         calls    get_weather(city: "Tokyo [tag:openai-responses-json]")
      2 <time> <time>  model  gpt-x  10 in, 5 out
         prompt   system and tools as in step 1; goes on from step 1 (5 messages)
         tool     get_weather: Paris [tag:openai-responses-json]: sunny
         tool     get_weather: Tokyo [tag:openai-responses-json]: sunny
         said     It is <n> degrees. I heard Paris [tag:openai-responses-json]:
                    sunny|Tokyo [tag:openai-responses-json]: sunny. Reading
                    <id> [tag:openai-responses-json]

      outcome   returned "It is <n> degrees. I heard Paris
                  [tag:openai-responses-json]: sunny|Tokyo
                  [tag:openai-responses-json]: sunny. Reading
                  <id> [tag:openai-responses-json]""
    `)
  })
  it('OpenAI Agents: the system prompt is told once', async () => {
    expect(await steps('openai-agents')).toMatchInlineSnapshot(`
      "1 <time> <time>  model  gpt-x  10 in, 5 out
         system   You tell the weather.
         tools    get_weather
         user     What is the weather in Paris and Tokyo? [tag:openai-agents]
         calls    get_weather(city: "Paris [tag:openai-agents]")
         calls    get_weather(city: "Tokyo [tag:openai-agents]")
      2 <time> <time>  model  gpt-x  10 in, 5 out
         prompt   system and tools as in step 1; goes on from step 1 (5 messages)
         tool     get_weather: Paris [tag:openai-agents]: sunny
         tool     get_weather: Tokyo [tag:openai-agents]: sunny
         said     It is <n> degrees. I heard Paris [tag:openai-agents]: sunny|Tokyo
                    [tag:openai-agents]: sunny. Reading <id>
                    [tag:openai-agents]

      outcome   returned "It is <n> degrees. I heard Paris [tag:openai-agents]:
                  sunny|Tokyo [tag:openai-agents]: sunny. Reading
                  <id> [tag:openai-agents]""
    `)
  })
  it('embeddings', async () => {
    expect(await steps('openai-embeddings')).toMatchInlineSnapshot(`
      "1 <time> <time>  model  embed-x  1 in
         input    What is the weather in Paris and Tokyo? [tag:openai-embeddings]
         input    a second text
         said     (vectors)

      outcome   returned [0,0]"
    `)
  })
  it('Anthropic, streamed', async () => {
    expect(await steps('anthropic-stream')).toMatchInlineSnapshot(`
      "1 <time> <time>  model  claude-x  10 in, 5 out
         tools    get_weather
         user     What is the weather in Paris and Tokyo? [tag:anthropic-stream]
         calls    get_weather(city: "Paris [tag:anthropic-stream]")
         calls    get_weather(city: "Tokyo [tag:anthropic-stream]")
      2 <time> <time>  model  claude-x  10 in, 5 out
         prompt   tools as in step 1; goes on from step 1 (3 messages)
         tool     get_weather: Paris [tag:anthropic-stream]: sunny
         tool     get_weather: Tokyo [tag:anthropic-stream]: sunny
         said     It is <n> degrees. I heard Paris [tag:anthropic-stream]:
                    sunny|Tokyo [tag:anthropic-stream]: sunny. Reading
                    <id> [tag:anthropic-stream]

      outcome   returned <pieces>"
    `)
  })
  it('Gemini', async () => {
    expect(await steps('google-genai')).toMatchInlineSnapshot(`
      "1 <time> <time>  model  gemini-x  10 in, 5 out
         tools    get_weather
         user     What is the weather in Paris and Tokyo? [tag:google-genai]
         calls    get_weather(city: "Paris [tag:google-genai]")
         calls    get_weather(city: "Tokyo [tag:google-genai]")
      2 <time> <time>  model  gemini-x  10 in, 5 out
         prompt   tools as in step 1; goes on from step 1 (3 messages)
         tool     get_weather: Paris [tag:google-genai]: sunny
         tool     get_weather: Tokyo [tag:google-genai]: sunny
         said     It is <n> degrees. I heard {"output":"Paris [tag:google-genai]:
                    sunny"}|{"output":"Tokyo [tag:google-genai]: sunny"}. Reading
                    <id> [tag:google-genai]

      outcome   returned "It is <n> degrees. I heard {\\"output\\":\\"Paris
                  [tag:google-genai]: sunny\\"}|{\\"output\\":\\"Tokyo
                  [tag:google-genai]: sunny\\"}. Reading <id>
                  [tag:google-genai]""
    `)
  })
  it('Bedrock, a binary event stream', async () => {
    expect(await steps('bedrock-converse-stream')).toMatchInlineSnapshot(`
      "1 <time> <time>  model  model-x  10 in, 5 out
         tools    get_weather
         user     What is the weather in Paris and Tokyo?
                    [tag:bedrock-converse-stream]
         calls    get_weather(city: "Paris [tag:bedrock-converse-stream]")
         calls    get_weather(city: "Tokyo [tag:bedrock-converse-stream]")
      2 <time> <time>  model  model-x  10 in, 5 out
         prompt   tools as in step 1; goes on from step 1 (3 messages)
         tool     get_weather: Paris [tag:bedrock-converse-stream]: sunny
         tool     get_weather: Tokyo [tag:bedrock-converse-stream]: sunny
         said     It is <n> degrees. I heard [{"text":"Paris
                    [tag:bedrock-converse-stream]: sunny"}]|[{"text":"Tokyo
                    [tag:bedrock-converse-stream]: sunny"}]. Reading
                    <id> [tag:bedrock-converse-stream]

      outcome   returned <pieces>"
    `)
  })
  it('an MCP server over stdio: calls made at once are marked', async () => {
    expect(await steps('mcp-stdio')).toMatchInlineSnapshot(`
      " <time>  spawn <command>
      1 <time> <time>  rpc  initialize
         args     {"protocolVersion":"2025-11-25","capabilities":{},
                    "clientInfo":{"name":"fixture","version":"1.0.0"}}
         result   {"protocolVersion":"2025-11-25",
                    "capabilities":{"tools":{"listChanged":true}},
                    "serverInfo":{"name":"weather","version":"1.0.0"}}
      2 <time>       …  rpc  notifications/initialized
         result   nothing is answered to a notification
      3 <time> <time>  rpc  tools/list
         result   {"tools":[{"name":"get_weather","description":"Weather of a city",
                    "inputSchema":{"$schema":"<address>
                    ,"type":"object","properties":{"city":{"type":"string"}},
                    "required":["city"]},"execution":{"taskSupport":"forbidden"}}]}
      4 <time> <time>  mcp  get_weather  ∥ 5
         args     {"city":"Paris [tag:mcp-stdio]"}
         result   Paris [tag:mcp-stdio]: <n> degrees
      5 <time> <time>  mcp  get_weather  ∥ 4
         args     {"city":"Tokyo [tag:mcp-stdio]"}
         result   Tokyo [tag:mcp-stdio]: <n> degrees
      6 <time>       …  rpc  end of input
       <time>  push  end of its output
       <time>  push  ended: 0

      outcome   returned {"tools":["get_weather"],"answers":[[{"type":"text",
                  "text":"Paris [tag:mcp-stdio]: <n> degrees"}],[{"type":"text",
                  "text":"Tokyo [tag:mcp-stdio]: <n> degrees"}]]}"
    `)
  })
  it('a plain HTTP request', async () => {
    expect(await steps('undici-request')).toMatchInlineSnapshot(`
      "1 <time> <time>  http  POST <address>
         sent     {"query":"What is the weather in Paris and Tokyo?
                    [tag:undici-request]","limit":3}
         status   200
         body     {"tookMs":2.6,"matches":[{"id":"doc1","score":0.52,"text":"passage
                    1 <id>"},{"id":"doc2","score":0.52,
                    "text":"passage 2 <id>"},{"id":"doc3",
                    "score":0.52,"text":"passage 3 <id>"}]}

      outcome   returned {"statusCode":200,"answer":{"tookMs":2.6,
                  "matches":[{"id":"doc1","score":0.52,"text":"passage 1
                  <id>"},{"id":"doc2","score":0.52,
                  "text":"passage 2 <id>"},{"id":"doc3",
                  "score":0.52,"text":"passage 3 <id>"}]}}"
    `)
  })

  it('no line is wider than 80 columns, but for one unbroken name', async () => {
    for (const name of names) {
      const { out } = await ask('show', join(dir, `${name}.tape.jsonl`))
      const wide = out.split('\n').filter((line) => line.length > 80 && !/^(tape|file|case) /.test(line))
      expect(wide, name).toEqual([])
    }
  })

  it('the trace is printed as a baseline has it', async () => {
    const { out } = await ask('show', join(dir, 'openai-chat-stream.tape.jsonl'), '--trace')
    expect(out).toBe('- - get_weather(city)\n  - get_weather(city)')
  })

  it('one step of a binary stream is decoded, and both bodies are there for programs', async () => {
    const file = join(dir, 'bedrock-converse-stream.tape.jsonl')
    const { out } = await ask('show', file, '--step', '1')
    expect(out).toContain('binary, ')
    expect(out).toMatch(/put together\n {2}\| get_weather\(city: "Paris/)
    const { out: json } = await ask('show', file, '--step', '1', '--json')
    expect(JSON.parse(json)).toMatchObject({
      step: { number: 1, kind: 'model' },
      event: { kind: 'exchange' },
      request: { messages: [{ role: 'user' }] },
      response: { base64: expect.any(String) as string },
    })
  })
})
