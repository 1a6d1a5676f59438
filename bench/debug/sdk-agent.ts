import { type AgentInput, loadAgent } from '../../fixtures/agents/index.ts'

const name = process.env['HARVEST_TEST_AGENT'] ?? ''

/** The fixture agent named in the environment; it is loaded with the addresses it was recorded with. */
export async function agent(input: AgentInput): Promise<unknown> {
  const run = await loadAgent(name, input)
  return run(input)
}
