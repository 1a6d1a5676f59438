import type { StackOutcome } from './outcome.ts'

const head = `# Stacks

Each row is a stack that was installed from npm into a folder of its own and recorded, promoted and replayed there, with an agent of a few lines.

* **Records**: against a provider on this machine. The number is that of the steps on the tape.
* **Promotes**, **replays**: in a process of its own, with the provider gone. A canary listens in its place; no request may reach it.
* **Break**: the error code of the red case after an edit of the agent. Another tool result or another question gives
  [\`HARVEST_UNPROVEN\`](replaying.md#three-verdicts), and the message shows the edit. Another query parameter, call, text to embed or line to a child gives
  [\`HARVEST_DIVERGENCE\`](errors.md).
* **Refused**: no case can be made, because the recorder does not see its requests, or its add-on may use the network. The number in brackets counts the requests that reach the canary once the add-on is allowed by name.
* **What to write**: beside the [recorder](recording.md). A dash is nothing.

| Stack | Packages | Records | Promotes | Replays | Break | What to write |
|---|---|---|---|---|---|---|
`

/** The page that says what the saved results say. */
export function stacksPage(results: Readonly<Record<string, StackOutcome>>): string {
  const rows = Object.values(results)
  const reached = rows.reduce((sum, { canary }) => sum + canary, 0)
  const end = `\n${rows.length} rows; ${reached} requests reached the canary. \`npm run test:stacks\` in the repository of this package writes this page.\n`
  return `${head}${rows.map(line).join('')}${end}${longer}${next}`
}

/** Tried once outside of this repository; `test:stacks` does not renew it. */
const longer = `
## Agents of several steps

Agents of 5 to 19 steps were tried once: two tools at once, one that throws, one that writes into its context where there is one, two calls of the agent's own code.
0 requests reached the provider during the replays.
*Unchanged* counts replays with the verdict *same*. *Changed* counts edits that were red: prompt, tool, setting, argument, tenant, order, a lost \`await\`.
*Harmless* counts those that stayed green: a function extracted, a name, the format, logs, more turns of the event loop, a stream for a whole answer.

| Framework | Packages | Unchanged | Changed | Harmless |
|---|---|---|---|---|
| OpenAI Agents: handoff, session | \`@openai/agents@0.20.0\` | 20 of 20 | 13 of 13 | 6 of 6 |
| Mastra | \`@mastra/core@1.71.0\` | 20 of 20 | 12 of 12 | 6 of 6 |
| Mastra, workflow with parallel steps | \`@mastra/core@1.71.0\` | 20 of 20 | 11 of 11 | 5 of 5 |
| Genkit, OpenAI | \`genkit@1.42.0\`, \`@genkit-ai/compat-oai@1.42.0\` | 20 of 20 | 12 of 12 | 6 of 6 |
| Genkit, Google | \`genkit@1.42.0\`, \`@genkit-ai/google-genai@1.42.0\` | 20 of 20 | 13 of 13 | 6 of 6 |
| Google ADK | \`@google/adk@2.0.0\` | 20 of 20 | 12 of 12 | 6 of 6 |
| LlamaIndex | \`llamaindex@0.12.1\`, \`@llamaindex/workflow@1.1.24\` | 20 of 20 | 10 of 10 | 6 of 6 |
| LangGraph: parallel nodes, interrupt, \`Command\`, [revived](recording.md#tools-retrievers-values) | \`@langchain/langgraph@1.7.3\` | 20 of 20 | 13 of 13 | 7 of 7 |
| LangChain agents: middleware, state | \`langchain@1.5.14\` | 20 of 20 | 12 of 12 | 6 of 6 |
| AI SDK | \`ai@7.0.173\` | 20 of 20 | 12 of 12 | 6 of 6 |
| AI SDK | \`ai@6.0.326\` | 20 of 20 | 12 of 12 | 6 of 6 |
| AI SDK | \`ai@5.0.277\` | 20 of 20 | 12 of 12 | 5 of 6: its stream sends results in the order they come, which is another question |
| MCP over streamable HTTP: progress, sampling, elicitation | \`@modelcontextprotocol/sdk@1.32.2\` | 20 of 20 | 15 of 15 | 6 of 6 |
| MCP over stdio: the same | \`@modelcontextprotocol/sdk@1.32.2\` | 20 of 20 | 14 of 15: a lost \`await\` whose call ends while the client closes is not seen | 6 of 6 |
| Claude Agent SDK, its own program | \`@anthropic-ai/claude-agent-sdk@0.3.332\` | 20 of 20 | 12 of 12 | 5 of 5 |
| undici traced by OpenTelemetry and subscribers | \`undici@7.30.2\`, \`@opentelemetry/instrumentation-undici@0.34.0\` | 20 of 20 | 12 of 12 | 7 of 7 |
`

const next = '\nNext: [recording](recording.md), [what cannot be recorded](boundary.md), [databases](databases.md).\n'

function line(row: StackOutcome): string {
  const { stack, packages, agent, steps, promotes, replays, red, refused, write } = row
  const versions = Object.entries(packages).map(([name, version]) => `\`${name}@${version}\``)
  const cells = [
    `[${stack}](../fixtures/stacks/agents/${agent}.js)`,
    versions.join(', '),
    steps === 0 ? `no: ${row.unrecorded.join(', ')}` : `${steps}`,
    promotes ? 'yes' : `refused: \`${refused}\``,
    replays ? 'yes' : row.leaks === undefined ? 'refused' : `refused (${row.leaks})`,
    red === undefined ? '' : `\`${red}\``,
    write ?? '-',
  ]
  return `| ${cells.join(' | ')} |\n`
}
