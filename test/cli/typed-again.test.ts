import { afterEach, describe, expect, it, vi } from 'vitest'
import { type OptionChanges, typedAgain } from '../../src/cli/typed-again.ts'
import { parse } from '../../src/cli/parse.ts'
import { specs } from '../../src/cli/spec/index.ts'

function typed(line: readonly string[], changes: OptionChanges, command?: string): string {
  vi.stubGlobal('process', { ...process, argv: ['node', 'vitest-harvest', ...line] })
  return typedAgain(changes, command)
}

describe('the command a message proposes', () => {
  afterEach(() => vi.unstubAllGlobals())

  it.each([
    [['fork', 'a', '--tools', 'tape'], { tools: 'live' }, 'fork a --tools live'],
    [['fork', 'a', '--tools=tape', '--json'], { live: true, tools: 'live' }, 'fork a --json --live --tools live'],
    [['fork', 'a', '--live'], { live: true, tools: 'live' }, 'fork a --live --tools live'],
    [['blame', 'a', '--dry-run', '--ok', 'x'], { 'dry-run': false, live: true }, 'blame a --ok x --live'],
    [['blame', 'a', '--max-cost', '2', '--json'], { 'max-cost': undefined }, 'blame a --json'],
    [['blame', 'a', '--max-cost=2', 'b'], { 'max-cost': undefined }, 'blame a b'],
    [['rerun', 'a'], { ok: '<right>' }, "rerun a --ok '<right>'"],
    [['blame', 'a', '--ok', 'pya(*)', '--ok=b=1'], { ok: 'pay(*)' }, "blame a --ok 'pay(*)' --ok b=1"],
    [['blame', 'a', '--ok', 'pay(*)', '--ok', 'b=1'], { ok: '<right>' }, "blame a --ok '<right>'"],
    [['record', '--', 'node', '--tools', 'x'], { tools: 'live' }, 'record --tools live -- node --tools x'],
  ])('%j with %j: an option that was typed is replaced, never given twice', (line, changes, expected) => {
    expect(typed(line, changes)).toBe(`npx vitest-harvest ${expected}`)
  })

  it('names another command where that is asked', () => {
    expect(typed(['isolate', 'a', '--ok', 'x'], { isolate: false, repairs: true }, 'blame')).toBe(
      'npx vitest-harvest blame a --ok x --repairs',
    )
  })

  it('is one that the parser takes, whoever typed the option before', () => {
    const proposed = typed(['fork', 'a', '--step', '2', '--tools', 'tape'], { live: true, tools: 'live' })
    const parsed = parse(proposed.split(' ').slice(2), specs)
    expect(parsed.kind === 'run' && parsed.given.values('tools')).toEqual(['live'])
  })
})
