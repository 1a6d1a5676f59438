import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
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
      [HarvestError: Invalid update mode: expected none, new, questions, pins, all

        given  --update-recordings=al

      → --update-recordings=none
      → --update-recordings=new
      → --update-recordings=questions
      → --update-recordings=pins
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

      The case tells reviewers why the new behaviour is right.
      → to say why: --reason "…"
      → or by environment variable: HARVEST_UPDATE_REASON="…"
      → to write only missing baselines: npx vitest-harvest test --update-recordings=new
      (HARVEST_UPDATE_REASON)"
    `)
  })
})

describe("CI as Vitest's own isCI knows it", () => {
  // Vitest has std-env from here; the names of the variables stand nowhere but in its text.
  const fromVitest = createRequire(createRequire(import.meta.url).resolve('vitest/package.json'))
  const file = fromVitest.resolve('std-env')
  const text = readFileSync(file, 'utf8')
  const names = [
    ...text.slice(text.indexOf('["APPVEYOR"]')).matchAll(/\["([A-Z_-]+)"(?:,"(\w+)")?(?:,\{ci:!([01])\})?\]/g),
  ]
  const variables = [...new Set(names.map(([, name, variable]) => variable ?? name ?? ''))]

  it('is CI here too, whichever system it is', () => {
    expect(variables.length).toBeGreaterThan(40)
    const script = `import(${JSON.stringify(pathToFileURL(file).href)}).then((env) => process.stdout.write(String(env.isCI)))`
    const known = names.filter(([, , , no]) => no !== '1').map(([, name, variable]) => variable ?? name ?? '')
    for (const name of known) expect([name, unattended({ [name]: 'x' })]).toEqual([name, `this is CI (${name} is set)`])
    // That the text was read rightly is asked of the module itself, for the first and the last.
    for (const name of [known[0] ?? '', known.at(-1) ?? '', 'NETLIFY_LOCAL']) {
      const { stdout } = spawnSync(process.execPath, ['-e', script], { env: { [name]: 'x' }, encoding: 'utf8' })
      expect([name, stdout]).toEqual([name, String(unattended({ [name]: 'x' }) !== undefined)])
    }
  })
})
