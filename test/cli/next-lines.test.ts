import { afterEach, describe, expect, it, vi } from 'vitest'
import { asCommand } from '../../src/cli/next-lines.ts'
import { specs } from '../../src/cli/spec/index.ts'

function shown(typed: readonly string[], line: string): string {
  vi.stubGlobal('process', { ...process, argv: ['node', 'vitest-harvest', ...typed] })
  return asCommand(
    line,
    specs.find(({ name }) => name === typed[0]),
  )
}

describe('a next step that names options alone', () => {
  afterEach(() => vi.unstubAllGlobals())
  const blame = ['blame', 'bad', '--ok', 'answer~25 EUR', '--live', '--max-cost', '2']

  it.each([
    ['→ to go on: --max-runs 500', '--max-runs 500'],
    ["→ did you mean refund? --ok 'refund(amount: 25)'", "--ok 'refund(amount: 25)'"],
    ['  → to allow more: --max-cost 5', '--max-cost 5'],
    ['→ to find whether a was too: --repairs --reference <tape|case>', "--repairs --reference '<tape|case>'"],
    ["→ to grade runs by calls: --ok 'refund(amount: 25)'", "--ok 'refund(amount: 25)'"],
    ['\u001b[2m→ to start again: --no-cache\u001b[22m', '--no-cache'],
  ])('%s: is what was typed, with those', (line, options) => {
    const about = line.replace(/(?<=[:?] )--.*$/, '')
    const [before, set] = [blame, options.split(' ', 1)[0]!]
    const at = before.indexOf(set)
    const kept = at === -1 ? before : before.toSpliced(at, 2)
    const words = kept.map((word) => (word.includes(' ') ? `'${word}'` : word)).join(' ')
    const end = line.endsWith('\u001b[22m') ? '\u001b[22m' : ''
    expect(shown(blame, line)).toBe(`${about}npx vitest-harvest ${words} ${options}${end}`)
  })

  it('leaves out what it says is left out', () => {
    expect(shown(blame, '→ or limit the number of forks: --max-runs 100, without --max-cost')).toBe(
      "→ or limit the number of forks: npx vitest-harvest blame bad --ok 'answer~25 EUR' --live --max-runs 100",
    )
  })

  it.each([
    "→ name what is bad: --bad 'refund(amount: 2500)'   --bad 'answer~2500 EUR'",
    '→ to allow more: --max-cost, --max-tokens or --max-calls',
    '→ if a kind is no secret: --allow-secret <kind>, as in --allow-secret email',
    '→ of another command: --serve',
    '→ without its value: --max-runs',
    '→ to see it: npx vitest-harvest show bad --step 2',
    'Quoted: → to allow more: --max-cost 5',
    '… 3 more steps: --full',
  ])('%s: stays where it is more than options of this command', (line) => {
    expect(shown(blame, line)).toBe(line)
  })

  it('stays as it is where no command runs', () => {
    expect(asCommand('→ to print it: --json', undefined)).toBe('→ to print it: --json')
  })
})
