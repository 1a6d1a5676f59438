import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { loadCase, readAcceptedFile } from '../../src/cases/index.ts'

const cases = globSync('recordings/golden/**/*.case.yaml').sort().map(loadCase)

test("this repository's golden set shows six agents on six SDKs", () => {
  const config = readFileSync('vitest.config.ts', 'utf8')
  const sdks = cases.map(({ agent }) => {
    const [, file = ''] = new RegExp(`\\b'?${agent}'?: '(.*)#`).exec(config) ?? []
    return [agent, sdkOf(file)]
  })
  expect(Object.fromEntries(sdks)).toEqual({
    'front-desk': '@openai/agents',
    parcel: '@google/genai',
    refund: 'openai',
    returns: '@langchain/langgraph/prebuilt',
    stock: 'ai',
    triage: '@anthropic-ai/sdk',
  })
})

/** The package an agent imports, without those that only help it. */
function sdkOf(file: string): string | undefined {
  const imports = readFileSync(file, 'utf8').matchAll(/^import .* from '([^.'][^']*)'/gm)
  return [...imports]
    .map(([, name = '']) => name)
    .find((name) => !/^(@ai-sdk|@langchain\/(core|openai)|zod)/.test(name))
}

test('it holds incidents with their lessons, a known-bad run, and tools that were asked at once', () => {
  const incidents = cases.filter(({ tags }) => tags?.includes('incident'))
  expect(incidents.map(({ id }) => id)).toEqual(['refund-lost-point', 'parcel-carrier-down', 'triage-overloaded'])
  expect(incidents.every(({ lesson }) => lesson !== undefined)).toBe(true)
  expect(cases.filter((one) => one.expect === 'fail').map(({ id }) => id)).toEqual(['refund-lost-point'])
  const parallel = cases.filter(({ baseline }) => baseline?.some((item) => Array.isArray(item) && item.length > 1))
  expect(parallel.map(({ id }) => id)).toContain('stock-most-pieces')
})

test('it holds a change that a person accepted for several cases, with the digests of both sides', () => {
  const [change] = readAcceptedFile('recordings/accepted.yaml')
  expect(change).toMatchObject({
    what: 'instructions',
    was: expect.stringMatching(/^sha256-/),
    now: expect.stringMatching(/^sha256-/),
  })
})
