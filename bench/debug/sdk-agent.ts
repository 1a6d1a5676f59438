import { type AgentInput, loadAgent } from '../../fixtures/agents/index.ts'

const name = process.env['HARVEST_TEST_AGENT'] ?? ''
const run = await loadAgent(name, JSON.parse(process.env['HARVEST_TEST_INPUT'] ?? '{}') as AgentInput)

/**
 * The fixture agent named in the environment, three times in a row with a pause between: the same lines run at several steps,
 * and only their variables tell which step it is.
 */
export async function agent(input: AgentInput): Promise<readonly unknown[]> {
  const answers: unknown[] = []
  for (let round = 0; round < 3; round++) {
    const question = { ...input, tag: `${input.tag ?? name}-${round}` }
    const answer = await run(question)
    answers.push(answer)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  return answers
}
