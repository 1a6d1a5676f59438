import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { noReason, parseReason } from '../../src/vitest/update-reason.ts'
import { chooseMode, parseFlag, parseMode, unattended, updateModes } from '../../src/vitest/update-mode.ts'

describe('what a run may write', () => {
  it('at a desk: a missing baseline; what was asked for goes first', () => {
    expect(chooseMode([undefined, undefined], {})).toEqual({ mode: 'new' })
    expect(chooseMode([undefined, 'all', 'none'], {})).toEqual({ mode: 'all' })
    expect(chooseMode(['none', 'all'], {})).toEqual({ mode: 'none' })
  })

  it('for every way of asking, nothing in CI and nothing for a coding agent, unless a second word allows it', () => {
    const asked = fc.array(fc.option(fc.constantFrom(...updateModes), { nil: undefined }), { maxLength: 3 })
    fc.assert(
      fc.property(
        asked,
        fc.constantFrom('CI', 'GITHUB_ACTIONS', 'CLAUDECODE', 'CURSOR_AGENT', 'AI_AGENT'),
        (modes, name) => {
          const env = { [name]: '1' }
          expect(chooseMode(modes, env).mode).toBe('none')
          const wanted = modes.find((mode) => mode !== undefined)
          expect(chooseMode(modes, { ...env, HARVEST_ALLOW_CI_UPDATE: '1' }).mode).toBe(wanted ?? 'none')
        },
      ),
    )
  })

  it('a refusal says what was asked and why it was not followed', () => {
    expect(chooseMode(['all'], { CI: 'true' }).refused).toEqual({ asked: 'all', because: 'this is CI (CI is set)' })
    expect(chooseMode(['all'], { CURSOR_AGENT: '1' }).refused?.because).toBe(
      'a coding agent is running this (CURSOR_AGENT is set)',
    )
    expect(chooseMode(['none'], { CI: 'true' }).refused).toBeUndefined()
  })

  it('a variable that says no is not set', () => {
    expect([unattended({ CI: 'false' }), unattended({ CI: '0' }), unattended({ CI: '' })]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
  })
})

describe('the flag', () => {
  it('has a mode, and means all without one', () => {
    expect(
      [
        '--update-recordings',
        '--updateRecordings',
        '--update-recordings=new',
        '--no-update-recordings',
        '--update',
        '-u',
        'update-recordings',
      ].map(parseFlag),
    ).toEqual(['all', 'all', 'new', 'none', undefined, undefined, undefined])
  })

  it('with a mode nobody knows is an error that lists those there are', () => {
    expect(() => parseFlag('--update-recordings=al')).toThrowErrorMatchingInlineSnapshot(`
      [HarvestError: Invalid update mode: expected none, new, questions, all

        given  --update-recordings=al

      → --update-recordings=none
      → --update-recordings=new
      → --update-recordings=questions
      → --update-recordings=all
      (HARVEST_UPDATE_MODE)]
    `)
    expect(() => parseMode('', 'VITEST_HARVEST_UPDATE')).toThrow('HARVEST_UPDATE_MODE')
  })
})

describe('the reason for an update', () => {
  it('is a sentence', () => {
    expect(parseReason('  refunds need a person now\n')).toBe('refunds need a person now')
    for (const text of ['', ' \n', 'x'.repeat(501)]) expect(() => parseReason(text)).toThrow('HARVEST_UPDATE_REASON')
  })

  it('is missed with a line to paste', () => {
    expect(noReason().message).toMatchInlineSnapshot(`
      "Missing reason for this update; nothing was run

      A reviewer reads in the case why the new behaviour is right.
      → npx harvest test --update-recordings --reason "…"
      → or for other ways to ask for an update: HARVEST_UPDATE_REASON="…"
      → to write baselines that are missing, and nothing else: npx harvest test --update-recordings=new
      (HARVEST_UPDATE_REASON)"
    `)
  })
})
