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

  it('how to name it, when a tape names one that has another name by now', async () => {
    const steps = async (asked: string, names: readonly string[]) => messageOf(loadAgent(undefined, asked, names, true))
    expect(await steps('refnud', known)).toContain('→ if it has another name now: --agent refund\n→ add it')
    expect(await steps('desk', ['helpline'])).toContain('→ if it has another name now: --agent helpline\n')
    expect(await steps('desk', known)).toContain("→ if it has another name now: --agent '<name>'\n")
    expect(await steps('desk', [])).not.toContain('--agent')
  })

  it('what its module threw, when it throws on import', async () => {
    const throws = link(() => Promise.reject(new TypeError('PRICES is not defined')))
    expect(await messageOf(loadAgent(throws, 'refund', known))).toMatchInlineSnapshot(`
      "Cannot load the agent refund

        error  TypeError: PRICES is not defined

      Its module, or one it imports, threw while loading.
      → to see the error alone: import the file in a test of its own
      (HARVEST_AGENT_IMPORT)"
    `)
  })

  it('which variable to set, when a client misses its key', async () => {
    const said = 'Missing credentials: set the HARVEST_TEST_NO_KEY or HARVEST_TEST_OTHER_KEY environment variable'
    const throws = link(() => Promise.reject(new Error(said)))
    const message = await messageOf(loadAgent(throws, 'refund', known))
    expect(message).toContain("→ to set what it names: export HARVEST_TEST_NO_KEY='<value>'\n")
    expect(message).not.toContain('vitest.config.ts')
  })

  it('that the config may name another file, when there is none', async () => {
    const gone = Object.assign(new Error("Cannot find module '/src/gone.ts'"), { code: 'ERR_MODULE_NOT_FOUND' })
    const message = await messageOf(
      loadAgent(
        link(() => Promise.reject(gone)),
        'refund',
        known,
      ),
    )
    expect(message).toContain('→ if the file has another place now: correct agents.refund in vitest.config.ts\n')
    expect(message).not.toContain('threw')
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
