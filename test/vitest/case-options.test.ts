import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseCase } from '../../src/cases/index.ts'
import { HarvestError } from '../../src/errors/index.ts'
import { isListed } from '../../src/playback/allow.ts'
import { caseOptions } from '../../src/vitest/case-options.ts'
import { type HarvestOptions, parseOptions } from '../../src/vitest/options.ts'
import { toolsChoice } from '../../src/vitest/tools-choice.ts'

const settingsOf = (options: Omit<HarvestOptions, 'agents'>) => parseOptions({ agents: {}, ...options })
const caseWith = (line: string) =>
  parseCase(`case: c\nagent: a\ntape: c.tape.jsonl\nexpect: pass\n${line}\n`, 'c.case.yaml')
const optionsOf = (line: string, options: Omit<HarvestOptions, 'agents'> = {}) =>
  caseOptions(caseWith(line), settingsOf(options), toolsChoice({}))

function refusalOf(line: string, options: Omit<HarvestOptions, 'agents'> = {}): HarvestError | undefined {
  try {
    optionsOf(line, options)
  } catch (error) {
    if (HarvestError.is(error)) return error
    throw error
  }
  return undefined
}

describe('the real I/O that a case allows', () => {
  it('is refused before its agent is loaded, where the config does not list it', () => {
    const refused = refusalOf("escapes: { allow: ['*', 'socket db:5432'] }", { allow: ['socket db:*'] })
    expect(refused?.message).toMatchInlineSnapshot(`
      "Refused to run a case that allows real I/O by itself

        case  c

        *

      A case is data. What an agent may reach is decided in the Vitest config alone.
      → after a review, in harvest() of the Vitest config: allow: ['socket db:*', '*']
      → otherwise remove \`escapes\` from the case
      (HARVEST_ESCAPE_CONSENT)"
    `)
  })

  it.for([
    ['the same words', ['socket db:5432']],
    ['a wider pattern', ['socket *']],
    ['everything', ['*']],
  ] as const)('is let through where the config lists it: %s', ([, allow]) => {
    expect(optionsOf("escapes: { allow: ['socket db:5432'] }", { allow }).replay.allow).toEqual(allow)
    expect(refusalOf("escapes: { allow: ['socket mail:25'] }", { allow: ['socket db:*'] })?.code).toBe(
      'HARVEST_ESCAPE_CONSENT',
    )
  })

  it('is asked about no more where the config lets everything through', () => {
    expect(refusalOf("escapes: { allow: ['*'] }", { escapes: 'report' })).toBeUndefined()
  })

  it('never widens what the config says, however it is written', () => {
    const text = fc.stringMatching(/^[a-c*. ]{1,6}$/)
    fc.assert(
      fc.property(
        fc.array(text, { maxLength: 3 }),
        fc.array(text, { minLength: 1, maxLength: 3 }),
        text,
        (config, own, tried) => {
          const line = `escapes: ${JSON.stringify({ allow: own })}`
          const refused = refusalOf(line, { allow: config })
          const lists = (patterns: readonly string[]) => patterns.some((pattern) => isListed(pattern, tried))
          // What runs, runs with the list of the config; and what the case says tells nothing else than that list.
          if (refused === undefined) {
            expect(optionsOf(line, { allow: config }).replay.allow ?? []).toEqual(config)
            if (lists(own)) expect(lists(config)).toBe(true)
          }
        },
      ),
    )
  })

  it('prints the line for the config as code that holds these texts and nothing else', () => {
    const hostile = ["a'], agents: { x: '", 'b\\', 'c"\u202e\u001b]0;x\u0007', 'd\n::error::x', '##[group]', '\u2028']
    const fix = refusalOf(`escapes: ${JSON.stringify({ allow: hostile })}`)?.facts.fix?.[0] ?? ''
    expect(fix).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e\u2028]|##\[/)
    const list = /allow: (\[.*\])$/.exec(fix)?.[1] ?? ''
    expect([...(runInNewContext(list) as string[])]).toEqual(hostile)
  })
})
