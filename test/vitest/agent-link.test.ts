import { describe, expect, it } from 'vitest'
import { loadAgent } from '../../src/vitest/agent-link.ts'

const known = ['refund', 'triage']
const link = (load: () => Promise<object>) => ({ name: 'refund', export: 'refundAgent', load })

async function messageOf(loading: Promise<unknown>): Promise<string> {
  return loading.then(
    () => 'no error',
    (error: Error) => error.message,
  )
}

describe('an agent that cannot be loaded says', () => {
  it('which agents there are, when the case names another', async () => {
    expect(await messageOf(loadAgent(undefined, 'refnud', known))).toMatchInlineSnapshot(`
      "Unknown agent: refnud

        known  refund, triage

      → did you mean: refund instead of refnud
      → add it in vitest.config.ts: harvest({ agents: { 'refnud': './src/….ts#…' } })
      → or correct \`agent:\` in the case
      (HARVEST_AGENT_UNKNOWN)"
    `)
  })

  it('what its module threw, when it throws on import', async () => {
    const throws = link(() => Promise.reject(new TypeError('PRICES is not defined')))
    expect(await messageOf(loadAgent(throws, 'refund', known))).toMatchInlineSnapshot(`
      "Cannot load the agent refund

        error  TypeError: PRICES is not defined

      Its module, or one it imports, threw while loading.
      → to see the error alone: import the file in a test of its own
      → or correct agents.refund in vitest.config.ts
      (HARVEST_AGENT_IMPORT)"
    `)
  })

  it('what its module threw, without the key that was in it', async () => {
    const key = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`
    const throws = link(() => Promise.reject(new Error(`${key} is expired`)))
    expect(await messageOf(loadAgent(throws, 'refund', known))).toContain('Error: redacted-github-token-1 is expired')
  })

  it('what its module exports, when the export is missing', async () => {
    const other = link(() => Promise.resolve({ refund: () => undefined, version: 1 }))
    expect(await messageOf(loadAgent(other, 'refund', known))).toMatchInlineSnapshot(`
      "The module of the agent refund has no function export export refundAgent

        functions  refund

      → name one of them in vitest.config.ts: agents: { refund: './….ts#refund' }
      (HARVEST_AGENT_EXPORT)"
    `)
  })
})
