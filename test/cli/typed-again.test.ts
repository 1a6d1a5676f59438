import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { type OptionChanges, typedAgain } from '../../src/cli/typed-again.ts'
import type { CommandInput } from '../../src/cli/command.ts'
import { excludedBy, nameOf, parse, takesValue } from '../../src/cli/parse.ts'
import { specs } from '../../src/cli/spec/index.ts'
import { shellWords } from '../../src/errors/words.ts'

function typed(line: readonly string[], changes: OptionChanges): string {
  vi.stubGlobal('process', { ...process, argv: ['node', 'vitest-harvest', ...line] })
  return typedAgain(changes)
}

/** What people type: blanks, quotes, what a shell expands, lines, dashes, letters of all languages. */
const text = fc
  .oneof(
    fc.constantFrom(
      'a b',
      "it's",
      '"x"',
      '$HOME',
      '`id`',
      'a\nb',
      '\\',
      '!!',
      '*',
      '#',
      '--json',
      '-x',
      'é→',
      '\u202e',
      '##[error]a ##vso[task.complete]b ###[c]',
    ),
    fc.string({ minLength: 1, maxLength: 6, unit: 'grapheme' }),
    fc.constantFrom('x').map((one) => one.repeat(900)),
  )
  .filter((one) => one.trim() !== '' && !one.includes('\0') && !one.includes('\u0001') && one !== '--')

const lines = fc
  .constantFrom(...specs.filter(({ passThrough, options }) => passThrough !== true && options.length > 0))
  .chain((spec) => {
    const spelled = spec.options.flatMap((option) => [
      { option, flag: option.flag },
      ...(option.was ?? []).map(({ flag }) => ({ option, flag })),
      ...(option.short === undefined ? [] : [{ option, flag: option.short + option.flag.replace(/^\S+/, '') }]),
    ])
    const option = fc.tuple(fc.constantFrom(...spelled), text, fc.boolean()).map(([{ flag }, value, isTied]) => {
      const name = nameOf(flag)
      if (!takesValue(flag)) return { words: [name] }
      return {
        words: (isTied && name.startsWith('--')) || value.startsWith('--') ? [`${name}=${value}`] : [name, value],
      }
    })
    const slots = (spec.args ?? '').split(' ').filter((slot) => slot !== '' && !slot.includes('...')).length
    return fc.record({
      spec: fc.constant(spec),
      args: fc.array(
        text.filter((one) => !one.startsWith('-')),
        { minLength: slots, maxLength: slots },
      ),
      options: fc.array(option, { maxLength: 5 }),
      changed: fc.array(fc.record({ option: fc.constantFrom(...spec.options), value: text, isLeftOut: fc.boolean() }), {
        maxLength: 3,
      }),
    })
  })

function givenIn(words: readonly string[]): CommandInput {
  const parsed = parse(words, specs)
  if (parsed.kind !== 'run') throw new Error('no command')
  return parsed.given
}

function isTyped(line: readonly string[]): boolean {
  try {
    return parse(line, specs).kind === 'run'
  } catch {
    return false
  }
}

describe('the command a message proposes', () => {
  afterEach(() => vi.unstubAllGlobals())

  it.each([
    [['fork', 'a', '--tools', 'tape'], { tools: 'live' }, 'fork a --tools live'],
    [['fork', 'a', '--tools=tape', '--json'], { live: true, tools: 'live' }, 'fork a --live --tools live'],
    [['fork', 'a', '--live'], { live: true, tools: 'live' }, 'fork a --live --tools live'],
    [['blame', 'a', '--dry-run', '--ok', 'x'], { 'dry-run': false, live: true }, 'blame a --ok x --live'],
    [['blame', 'a', '--max-cost', '2', '--json'], { 'max-cost': undefined }, 'blame a'],
    [['blame', 'a', '--max-cost=2', 'b'], { 'max-cost': undefined }, 'blame a b'],
    [['rerun', 'a'], { ok: '<right>' }, "rerun a --ok '<right>'"],
    [['blame', 'a', '--ok', 'pya(*)', '--ok=b=1'], { ok: 'pay(*)' }, "blame a --ok 'pay(*)' --ok b=1"],
    [['blame', 'a', '--ok', 'pay(*)', '--ok', 'b=1'], { ok: '<right>' }, "blame a --ok '<right>'"],
    [['record', '--', 'node', '--tools', 'x'], { tools: 'live' }, 'record --tools live -- node --tools x'],
    [['blame', 'a', '--budget', '2'], { live: true, 'max-cost': '3' }, 'blame a --live --max-cost 3'],
    [['blame', 'a', '--budget=2', '--live'], { ok: 'x' }, 'blame a --max-cost 2 --live --ok x'],
    [['blame', 'a', '--delta', '0.1', '--columns'], { repairs: true }, 'blame a --confidence 0.9 --repairs'],
    [['debug', 'a', '-x', 'steps; back'], { json: true }, "debug a --commands 'steps; back' --json"],
    [['fork', 'a b', '--say=--no'], { live: true }, "fork 'a b' --say=--no --live"],
    [['fork', 'a', '--say', '##[a]b ##VSO[c]'], { live: true }, "fork a --say $'\\x23#[a]b \\x23#VSO[c]' --live"],
    [['fork', 'a', '--say', "it's\n$HOME"], { seed: '2' }, "fork a --say $'it\\'s\\n$HOME' --seed 2"],
  ])('%j with %j: an option that was typed is replaced, never given twice', (line, changes, expected) => {
    expect(typed(line, changes)).toBe(`npx vitest-harvest ${expected}`)
  })

  it.each([
    [['isolate', 'a', '--ok', 'x'], { live: true }, 'blame --isolate a --ok x --live'],
    [['isolate', 'a', '--ok', 'x'], { repairs: true }, 'blame a --ok x --repairs'],
    [['blame', 'a', '--isolate', '--live'], { mutate: true }, 'blame a --live --mutate'],
    [['blame', 'a', '--ok', 'x', '--bad', 'y'], { oracle: './o.ts#f' }, 'blame a --oracle ./o.ts#f'],
    [['fix', 'a', '--oracle', './o.ts#f'], { ok: '<right>' }, "fix a --ok '<right>'"],
    [['fork', 'a', '--step', '2', '--say', 'x'], { decide: 'f()' }, "fork a --step 2 --decide 'f()'"],
    [['fork', 'a', '--step', '2', '--save'], { critical: true }, 'fork a --save --critical'],
    [['verify', 'a', '--', 'node', 'x'], { agent: 'b' }, 'replay --exact a --agent b -- node x'],
    [['patch', 'a', '--set', 'x=1'], { live: true }, 'patch a --set x=1 --live'],
    [['tapes', 'rm', 'a'], { dir: 'b' }, 'tapes rm a --dir b'],
    [['rm', 'a'], { dir: 'b' }, 'tapes rm a --dir b'],
  ])(
    '%j with %j: what does not stand beside a new option is left out, and earlier names are not repeated',
    (line, changes, expected) => {
      expect(typed(line, changes)).toBe(`npx vitest-harvest ${expected}`)
    },
  )

  it('is one that the parser takes, whoever typed the option before', () => {
    const proposed = typed(['fork', 'a', '--step', '2', '--tools', 'tape'], { live: true, tools: 'live' })
    const parsed = parse(proposed.split(' ').slice(2), specs)
    expect(parsed.kind === 'run' && parsed.given.values('tools')).toEqual(['live'])
  })

  it('means what was typed, with what it changes, whatever is typed in whichever spelling', () => {
    const proposed: { readonly line: string; readonly words: readonly string[] }[] = []
    fc.assert(
      fc.property(lines, ({ spec, args, options, changed }) => {
        const line = [spec.name, ...args, ...options.flatMap(({ words }) => words)]
        const changes: Record<string, string | boolean | undefined> = {}
        for (const { option, value, isLeftOut } of changed)
          changes[nameOf(option.flag).slice(2)] = takesValue(option.flag) ? (isLeftOut ? undefined : value) : !isLeftOut
        // What cannot be typed need not be repeated: an option twice.
        fc.pre(isTyped(line))
        const isSet = (name: string): boolean =>
          name in changes && changes[name] !== undefined && changes[name] !== false
        const excluded = Object.keys(changes)
          .filter(isSet)
          .flatMap((name) => excludedBy(name, spec))
        // Nor is what does not stand side by side.
        fc.pre(!excluded.some(isSet))
        const next = typed(line, changes)
        const { words } = shellWords(next)
        proposed.push({ line: next, words })
        const [before, after] = [givenIn(line), givenIn(words.slice(2))]
        const meant = spec.options.map(({ flag }) => {
          const name = nameOf(flag).slice(2)
          const [was, is] = [before.values(name), after.values(name)]
          if (!(name in changes)) return name === 'json' || excluded.includes(name) ? [] : was
          const to = changes[name]
          if (to === false || to === undefined) return []
          // Of several values one is replaced, or all are.
          return to === true ? [''] : was.length > 1 && is.includes(to) ? is : [to]
        })
        const found = spec.options.map(({ flag }) => after.values(nameOf(flag).slice(2)))
        expect([after.args, found]).toEqual([before.args, meant])
      }),
      { seed: 20, numRuns: 150 },
    )
    // A shell reads the same words.
    const script = proposed.map(({ line }) => `printf '%s\\0' ${line}\nprintf '\\1'`).join('\n')
    const heard = execFileSync('bash', [], { input: script, encoding: 'utf8', env: { LC_ALL: 'C.UTF-8' } })
    const read = heard.split('\u0001').slice(0, -1)
    expect(read.map((one) => one.split('\0').slice(0, -1))).toEqual(proposed.map(({ words }) => words))
  })
})
