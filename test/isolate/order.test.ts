import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { parseExpectation } from '../../src/blame/expectation.ts'
import type { Judging } from '../../src/blame/oracle.ts'
import { isolateRun } from '../../src/isolate/index.ts'
import { createRecorder, tools } from '../../src/record/index.ts'
import { installReplay } from '../../src/replay/index.ts'
import { readTape, type Tape } from '../../src/tape/index.ts'
import { type Desk, openDesk } from '../cli/desk.ts'

let first = 'pear'
const shelf = tools({
  price: async ({ of }: { of: string }) => {
    if (of !== first) await new Promise((resolve) => setTimeout(resolve, 5))
    return { of, price: of.length }
  },
})

/** Looks up two prices side by side, and asks its model about each as it comes: which came first is part of the question. */
async function agent(input: unknown): Promise<{ readonly said: readonly string[]; readonly mixed: boolean }> {
  const { url } = input as { readonly url: string }
  const came: string[] = []
  await Promise.all(
    ['pear', 'plum'].map(async (name) => {
      await shelf.price({ of: name })
      came.push(name)
    }),
  )
  const said: string[] = []
  for (const [at, name] of came.entries()) {
    const messages = [{ role: 'user', content: `Number ${at + 1} is ${name}.` }]
    const body = JSON.stringify({ model: 'gpt-4o', messages })
    const response = await fetch(`${url}/v1/chat/completions`, { method: 'POST', body })
    const { choices } = (await response.json()) as { choices: { message: { content: string } }[] }
    said.push(choices[0]?.message.content ?? '')
  }
  return { said, mixed: said.some((text, at) => text !== came[at]) }
}

describe('a run whose questions tell the order of its answers', () => {
  let desk: Desk
  let dir = ''
  let tape: Tape
  beforeAll(async () => {
    await installReplay()
    // It says which fruit it is asked about.
    desk = await openDesk((messages) => /(\w+)\.$/.exec(String(messages.at(-1)?.content))?.[1] ?? '')
    dir = mkdtempSync(join(tmpdir(), 'harvest-isolate-'))
    const recorder = createRecorder({ dir })
    await recorder.run({ agent: 'fruit', input: { url: desk.url } }, () => agent({ url: desk.url }))
    tape = readTape(recorder.lastTape ?? '')
  })
  afterAll(async () => {
    rmSync(dir, { recursive: true, force: true })
    await desk.close()
  })
  afterEach(() => {
    first = 'pear'
  })
  const isolated = (judging: Judging, tools: 'live' | 'tape' = 'tape') =>
    isolateRun(tape, { agent: 'fruit', load: async () => agent, judging, tools, timeoutMs: 10_000, isAnyName: true })
  const asking = (text: string): Judging => ({ by: 'expectations', ok: [parseExpectation(text, '--ok')], bad: [] })

  it('is not cured by another order for a recorded answer that was given to another question', {
    tags: 'thorough',
  }, async () => {
    // Only an answer to another question makes it so.
    const { arms, verdict } = await isolated(asking('mixed=true'))
    expect(arms.map(({ varied, failed, runs }) => [varied.join('+'), failed === runs])).toEqual([
      ['timing', true],
      ['model', true],
      ['model+timing', true],
      ['tools', true],
    ])
    expect(arms[0]?.says).toBe('unknown')
    expect(verdict.kind === 'found' ? verdict.layers : []).not.toContain('timing')
  })

  it('is not cured by tools that answer in another order, for the answer to another question', async () => {
    first = 'plum'
    const { arms, verdict } = await isolated(asking('mixed=true'), 'live')
    expect(arms.filter(({ says }) => says === 'cured')).toEqual([])
    expect(arms.find(({ varied }) => varied.join() === 'tools')?.says).toBe('unknown')
    expect(verdict.kind === 'found' ? verdict.layers : []).not.toContain('data')
  })

  it('is cured by another order beside a live model, where order is what decides', async () => {
    const { arms, verdict } = await isolated(asking('said=["plum", "pear"]'))
    expect(arms.map(({ varied, says }) => [varied.join('+'), says])).toContainEqual(['model+timing', 'cured'])
    expect(verdict).toEqual({ kind: 'found', layers: ['timing'] })
  })
})
