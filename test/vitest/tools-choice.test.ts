import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { HarvestError } from '../../src/errors/index.ts'
import type { ToolReach } from '../../src/replay/tools.ts'
import { askConsent, noConsent, parseTools, toolsChoice, toolsOf, unapproved } from '../../src/vitest/tools-choice.ts'

const reach: readonly ToolReach[] = [
  { kind: 'tool', name: 'price', asks: [] },
  { kind: 'tool', name: 'refund', asks: ['GET shop.test/orders', 'POST shop.test/refunds'] },
]

describe('whose code runs', () => {
  it('is said by --tools: a mode, or names', () => {
    expect(parseTools('run', '')).toBe('run')
    expect(parseTools('serve', '')).toBe('serve')
    expect(parseTools('price, tax', '')).toEqual({ run: ['price', 'tax'] })
    for (const wrong of ['', 'price,']) {
      const attempt = (): unknown => parseTools(wrong, `--tools ${wrong}`)
      expect(attempt).toThrow(HarvestError)
      expect(attempt).toThrow(/HARVEST_TOOLS_MODE/)
    }
  })

  it('is said by the case, then the command, then the config; --tools serve goes before all', () => {
    const asked = (text: string) => toolsChoice({ VITEST_HARVEST_TOOLS: text })
    const none = toolsChoice({})
    expect(toolsOf(undefined, none, 'serve')).toBe('serve')
    expect(toolsOf(undefined, none, 'run')).toEqual({ run: ['*'] })
    expect(toolsOf(undefined, asked('tax'), 'run')).toEqual({ run: ['tax'] })
    expect(toolsOf({ run: ['price'] }, asked('tax'), 'run')).toEqual({ run: ['price'] })
    expect(toolsOf('serve', asked('run'), 'run')).toBe('serve')
    expect(toolsOf('run', asked('serve'), 'run')).toBe('serve')
  })

  it('a way out is opened by the config alone', () => {
    const lane = { run: ['price'], live: ['https://staging.example'], mcp: { 'https://a.test/': 'https://b.test/' } }
    expect(toolsOf('run', toolsChoice({}), lane)).toEqual({ ...lane, run: ['*'] })
    expect(toolsOf(undefined, toolsChoice({ VITEST_HARVEST_TOOLS: 'serve' }), lane)).toBe('serve')
  })
})

describe('a yes', () => {
  it('covers the tools that the config names, or all of one run', () => {
    const open = (env: Record<string, string>, config: Parameters<typeof unapproved>[2]) =>
      unapproved(reach, toolsChoice(env), config).map(({ name }) => name)
    expect(open({}, 'run')).toEqual(['price', 'refund'])
    expect(open({}, { run: ['price'] })).toEqual(['refund'])
    expect(open({}, { run: ['*'] })).toEqual([])
    expect(open({ VITEST_HARVEST_TOOLS_YES: '1' }, 'run')).toEqual([])
    expect(open({ VITEST_HARVEST_TOOLS_YES: 'no' }, 'run')).toEqual(['price', 'refund'])
  })

  it.each([
    ['y\n', true],
    ['YES\n', true],
    ['n\n', false],
    ['\n', false],
    ['yes please\n', false],
    [undefined, false],
  ])('is asked for at a terminal after the list of what the tools were seen to do: %j is %j', async (said, answer) => {
    const [input, output] = [new PassThrough(), new PassThrough()]
    const asked = askConsent(reach, input, output)
    input.end(said)
    expect(await asked).toBe(answer)
    const text = String(output.read())
    expect(text.split('Run it?')[0]).toBe(`The code of 2 tools is to run:
  price: asked nothing that was recorded
  refund: GET shop.test/orders, POST shop.test/refunds
Files, databases and memory that a body changes are not on its tape.
`)
  })

  it('that is missing is an error with the list and the ways to give it', () => {
    expect(noConsent('refund-100x', reach).message).toMatchInlineSnapshot(`
      "Refused to run the code of 2 tools: confirm what they do

        case  refund-100x

        price: asked nothing that was recorded
        refund: GET shop.test/orders, POST shop.test/refunds

      Requests are answered from the tape, but for origins under tools.live. Files, databases and memory that a body changes are not on its tape.
      → after a review, in vitest.config.ts: tools: { run: ['price', 'refund'] }
      → for this run only: npx vitest-harvest test --tools run --yes
      → to answer them from the tape: npx vitest-harvest test --tools serve
      (HARVEST_TOOLS_CONSENT)"
    `)
  })
})
