import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type CasePins,
  changedPins,
  crossVersion,
  describeChanges,
  type LivePins,
  versionChanges,
} from '../../src/provenance/index.ts'

const commit = '4f2a9c1d5e6b7a8f90c1d2e3f4a5b6c7d8e9f0a1'
const other = '9ab0c3d15e6b7a8f90c1d2e3f4a5b6c7d8e9f0a1'
const pins: CasePins = {
  commit,
  dirty: false,
  models: ['claude-x', 'gpt-y'],
  prompt: 'sha256-hBqJg3Zr0d0W',
  tools: 'sha256-Qm8sTn1x',
  node: '24.21.0',
  recorder: 'vitest-harvest/0.1.0',
}
const same: LivePins = { ...pins }

function refusal(recorded: CasePins, live: LivePins, ways: object = {}): string {
  const changes = versionChanges(recorded, live)
  return changes.length === 0 ? 'not refused' : crossVersion(recorded, { changes, ...ways }).message
}

test('each pin that changed is one line', () => {
  const live = {
    commit: other,
    dirty: true,
    models: ['gpt-y', 'claude-z'],
    prompt: 'sha256-other',
    tools: 'sha256-new',
    node: '22.15.0',
  }
  expect(describeChanges(changedPins(pins, live))).toMatchInlineSnapshot(`
    "commit     4f2a9c1d5e → 9ab0c3d15e
    work tree  clean → uncommitted changes
    models     claude-x, gpt-y → claude-z, gpt-y
    prompt     sha256-hBqJg3Zr0d0W → sha256-other
    tools      sha256-Qm8sTn1x → sha256-new
    node       24.21.0 → 22.15.0"
  `)
})

test('nothing changed is no line', () => {
  expect(changedPins(pins, same)).toEqual([])
  expect(describeChanges([])).toBe('')
})

test('a Node that nobody knows, as of an import, did not change', () => {
  expect(changedPins({ node: 'unknown' }, { node: '24.21.0' })).toEqual([])
})

test('models are a set: their order means nothing', () => {
  expect(changedPins(pins, { commit, models: ['gpt-y', 'claude-x'] })).toEqual([])
})

test('a pin nobody looked at is not compared', () => {
  expect(changedPins(pins, { commit })).toEqual([])
})

test('a shortened hash names the commit it begins', () => {
  expect(changedPins({ commit: commit.slice(0, 7) }, { commit })).toEqual([])
  expect(changedPins({ commit: other.slice(0, 7) }, { commit })).toHaveLength(1)
})

test('a commit that is no hash equals only itself: a prefix of a word proves nothing', () => {
  expect(changedPins({ commit: 'v1' }, { commit: 'v1' })).toEqual([])
  expect(changedPins({ commit: 'v1' }, { commit: 'v10' })).toHaveLength(1)
  expect(changedPins({ commit: '' }, { commit })).toHaveLength(1)
})

test('pins of an untrusted tape cannot act on the terminal', () => {
  const text = describeChanges(changedPins({ commit: '\u001b[2J', models: ['a\nb'] }, { commit, models: [] }))
  expect(text).not.toContain('\u001b')
  expect(text.split('\n')).toHaveLength(2)
})

describe('code of another version does not continue a tape', () => {
  test('at another commit', () => {
    expect(refusal(pins, { ...same, commit: other })).toMatchInlineSnapshot(`
      "Unknown whether this code made the tape

        commit     4f2a9c1d5e → 9ab0c3d15e

      A difference could come from the changed code instead of your change.
      → to continue anyway, with both versions in the result: --cross-version
      (HARVEST_CROSS_VERSION)"
    `)
  })

  test('at a commit nobody knows', () => {
    expect(refusal({ node: '24.21.0' }, { commit: undefined })).toMatchInlineSnapshot(`
      "Unknown whether this code made the tape

        commit     unknown → unknown

      An unknown commit counts as another commit: a difference could come from changed code.
      → next time, record with createRecorder({ commit: process.env.GIT_SHA })
      → to continue anyway, with both versions in the result: --cross-version
      (HARVEST_CROSS_VERSION)"
    `)
    expect(refusal(pins, { ...same, commit: undefined })).toContain('4f2a9c1d5e → unknown')
    expect(refusal({ node: '24.21.0' }, { commit })).toContain('unknown → 4f2a9c1d5e')
  })

  test('with another model', () => {
    expect(refusal(pins, { ...same, models: ['gpt-y'] })).toContain('models     claude-x, gpt-y → gpt-y')
    expect(refusal({ commit }, { commit, models: ['gpt-y'] })).toContain('models     unknown → gpt-y')
  })

  test('with uncommitted changes on either side, even on both', () => {
    expect(refusal(pins, { ...same, dirty: true })).toContain('work tree  clean → uncommitted changes')
    expect(refusal({ ...pins, dirty: true }, same)).toContain('work tree  uncommitted changes → clean')
    expect(refusal({ ...pins, dirty: true }, { ...same, dirty: true })).not.toBe('not refused')
  })

  test('but another Node version alone is no other code', () => {
    expect(refusal(pins, { ...same, node: '22.15.0' })).toBe('not refused')
  })

  test('and what is known about the ways out is told', () => {
    const accepted = { ...pins, accepted: { commit, dirty: true, digest: '' } }
    const ways = { files: ['src/a.ts'], toRecordedCode: `git checkout ${commit}`, caseId: 'late-refund' }
    const told = refusal(accepted, { ...same, commit: other }, ways)
    expect(told).toContain('  changed     src/a.ts\n')
    expect(told).toContain(`→ to run the recorded code: git checkout ${commit}\n`)
    expect(told).toContain(
      '→ once the accepted code is committed: npx vitest-harvest test late-refund --update-recordings=pins\n',
    )
  })

  test('equal pins go on', () => {
    expect(refusal(pins, same)).toBe('not refused')
  })

  test('for every two sets of pins, what is not refused is the same known commit', () => {
    const hash = fc.constantFrom(undefined, commit, commit.slice(0, 8), other)
    const flag = fc.constantFrom(undefined, true, false)
    const models = fc.constantFrom(undefined, [], ['a'], ['a', 'b'])
    const some = fc.record({ commit: hash, dirty: flag, models }) as fc.Arbitrary<CasePins & LivePins>
    fc.assert(
      fc.property(some, some, (recorded, live) => {
        const equal =
          recorded.commit !== undefined &&
          live.commit !== undefined &&
          (recorded.commit.startsWith(live.commit) || live.commit.startsWith(recorded.commit)) &&
          recorded.dirty !== true &&
          live.dirty !== true &&
          (live.models === undefined || (recorded.models ?? []).join() === live.models.join())
        expect(refusal(recorded, live) === 'not refused').toBe(equal)
      }),
    )
  })
})
