import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest'
import { asCommand, nextCommands, withCommands } from '../../src/cli/next-lines.ts'
import { HarvestError } from '../../src/errors/index.ts'
import { forgetNamed, noteNamed } from '../../src/cli/named-tape.ts'
import { stepsAfterRates } from '../../src/cli/rerunning/steps.ts'
import { createScreen } from '../../src/cli/screen.ts'
import { specs } from '../../src/cli/spec/index.ts'
import { tapeText } from '../host/refund.ts'

function shown(typed: readonly string[], line: string): string | undefined {
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

  it('is what was typed where that is to be typed again', () => {
    const typed = [...blame, '--no-cache']
    const words = "npx vitest-harvest blame bad --ok 'answer~25 EUR' --live --max-cost 2"
    expect(shown(typed, '  → once its key is right: the same command')).toBe(
      `  → once its key is right: ${words} --no-cache`,
    )
    expect(shown(typed, '→ to go on: the same command, without --no-cache')).toBe(`→ to go on: ${words}`)
  })

  it('sets an option of many values to all that it names, however many were typed', () => {
    const line = '→ if it is not a secret: --allow-secret jwt --allow-secret email'
    expect(shown(['promote', 'a', '--allow', 'jwt', '--as', 'b'], line)).toBe(
      '→ if it is not a secret: npx vitest-harvest promote a --as b --allow-secret jwt --allow-secret email',
    )
    // Another one twice is a mistake of the text.
    expect(shown(['promote', 'a'], '→ x: --as b --as c')).toBe('→ x: --as b --as c')
  })

  it('is what was typed with the word that was meant, wherever the mistyped one stands', () => {
    const line = "→ did you mean: 'a good one' instead of gd"
    const of = (...typed: readonly string[]) => shown(typed, line)
    const asked = '→ did you mean: npx vitest-harvest'
    expect(of('fork', 'gd', '--step', '2')).toBe(`${asked} fork 'a good one' --step 2`)
    expect(of('blame', 'bad', '--reference=gd', '--live')).toBe(`${asked} blame bad --live --reference 'a good one'`)
    expect(of('tapes', 'hold', 'x', 'gd')).toBe(`${asked} tapes hold x 'a good one'`)
    // A word of a file was not typed: nothing is to be pasted.
    expect(of('fork', 'bad', '--step', '2')).toBe(line)
  })

  it('reads values as a shell wrote them', () => {
    expect(shown(blame, "→ did you mean: --ok 'answer~it'\\''s $HOME'")).toBe(
      "→ did you mean: npx vitest-harvest blame bad --live --max-cost 2 --ok 'answer~it'\\''s $HOME'",
    )
  })

  it.each([
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

  it.each([
    [['blame', 'bad', '--live'], 'recordings/prices.json'],
    [['blame', 'bad', '--dir', "it's recs"], "it's recs/prices.json"],
    [['test', '--prove', '--yes', '--dir', "it's recs"], "it's recs/prices.json"],
    [['test', '--prove', "--dir=it's recs", '--yes'], "it's recs/prices.json"],
    [['record', '--dir', 'mine', '--', 'node', '--dir', 'x'], 'mine/prices.json'],
  ])('%j: a price is to be written into %s, which is read', (typed, file) => {
    expect(shown(typed, '→ to give its price: prices: { "m": { "input": 1 } }')).toBe(
      `→ to give its price: ${file}: { "m": { "input": 1 } }`,
    )
  })

  describe('or a command about recordings elsewhere', () => {
    const recordings = join(mkdtempSync(join(tmpdir(), 'next-')), 'recordings')
    const golden = join(recordings, 'golden')
    mkdirSync(golden, { recursive: true })
    for (const ending of ['case.yaml', 'tape.jsonl']) writeFileSync(join(golden, `r.${ending}`), '')
    afterAll(() => rmSync(dirname(recordings), { recursive: true }))

    describe.each([
      ['by the path of a golden tape', [join(golden, 'r.tape.jsonl')]],
      ['by --dir', ['r', '--dir', recordings]],
    ])('that were named %s', (_how, typed) => {
      it.each([
        ['accept r --reason "…"', `accept r --reason "…" --dir ${recordings}`],
        ['test r --prove', `test r --prove --dir ${recordings}`],
        ['test r --update-recordings', `test ${golden}/r.case.yaml --update-recordings`],
        ['test r', `test ${golden}/r.case.yaml`],
        ['rerun r --live', `rerun r --live --dir ${recordings}`],
        ['fix r', `fix r --dir ${recordings}`],
        ['test another', 'test another'],
        ['test --tags-filter=golden', 'test --tags-filter=golden'],
      ])('%s: is about those', (command, expected) => {
        expect(shown(['replay', ...typed], `→ next: npx vitest-harvest ${command}`)).toBe(
          `→ next: npx vitest-harvest ${expected}`,
        )
      })
    })

    it('goes on here with what is promoted from there', () => {
      const tape = join(golden, 'r.tape.jsonl')
      expect(shown(['promote', tape, '--as', 'x'], '→ next: npx vitest-harvest test x')).toBe(
        '→ next: npx vitest-harvest test x',
      )
    })
  })

  describe('or a command', () => {
    const file = resolve("recs it's/inbox/a b.tape.jsonl")
    afterEach(forgetNamed)
    function named(word: string, foundBy: readonly string[], caseId?: string): void {
      const isCalled = (id: string): boolean => ['the id', caseId].includes(id)
      const isFoundBy = (id: string): boolean => foundBy.includes(id)
      noteNamed({ word, file, isCalled, isFoundBy, ...(caseId === undefined ? {} : { caseId }) })
    }
    const inDir = "--dir 'recs it'\\''s'"
    const typed = ['chaos', 'a b', '--dir', "recs it's", '--agent', 'mine']

    it.each([
      ["show 'the id' --replay", `show 'a b' --replay ${inDir}`],
      ['show <tape> --step 3', `show 'a b' --step 3 ${inDir}`],
      ['blame <id> --mutate', `blame 'a b' --mutate ${inDir} --agent mine`],
      ['promote <tape> --as <id> --reason "…"', `promote 'a b' --as <id> --reason "…" ${inDir} --agent mine`],
      ['ls --tool x', `ls --tool x ${inDir}`],
      [`show 'the id' ${inDir}`, `show 'a b' ${inDir}`],
      ["replay 'the id'", `replay 'a b' ${inDir} --agent mine`],
      ['fix <case>', `fix <case> ${inDir} --agent mine`],
      ['show another', `show another ${inDir}`],
      ['test the-case --prove', 'test the-case --prove'],
      ["show 'never closed", "show 'never closed"],
    ])('%s: names the tape by what finds it, in the folder that was typed', (command, expected) => {
      named('a b', ['a b'])
      expect(shown(typed, `→ why: npx vitest-harvest ${command}`)).toBe(`→ why: npx vitest-harvest ${expected}`)
    })

    it('names a case by its own name, where a case is taken', () => {
      named('shop/paid', [], 'paid')
      const lines = ['show paid --replay', "doctor 'the id'", 'fix <case>', 'promote <tape> --as <id>']
      const next = lines.map((line) => shown(['chaos', 'shop/paid'], `→ why: npx vitest-harvest ${line}`))
      expect(next.map((line) => line?.replace('→ why: npx vitest-harvest ', ''))).toEqual([
        'show shop/paid --replay',
        'doctor shop/paid',
        'fix shop/paid',
        "promote 'recs it'\\''s/inbox/a b.tape.jsonl' --as <id>",
      ])
    })

    it('means the case that is made now, where its tape is called the same', () => {
      named('a b', ['a b'])
      const next = (as: string) =>
        shown(['promote', 'a b', '--as', as], "→ why: npx vitest-harvest blame 'the id' --dry-run")
      expect(next('the id')).toBe("→ why: npx vitest-harvest blame 'the id' --dry-run")
      expect(next('other')).toBe("→ why: npx vitest-harvest blame 'a b' --dry-run")
    })

    it('updates the case that was named alone, and no case where a tape has none', () => {
      const update = `→ if right: npx vitest-harvest test '<case>' --update-recordings --reason "…"`
      named('shop/paid', [], 'paid')
      expect(shown(['replay', 'shop/paid'], update)).toBe(update.replace("'<case>'", 'paid'))
      forgetNamed()
      named('a b', ['a b'])
      expect(shown(['replay', 'a b'], update)).toBe('→ if right: record the run again')
    })

    it('says why for the cases that were typed, and no others', () => {
      expect(shown(['test', 'a', '--update-recordings'], '→ to say why: --reason "…"')).toBe(
        "→ to say why: npx vitest-harvest test a --update-recordings --reason '…'",
      )
    })

    it('keeps an id that finds the tape, and does not say `latest` of it', () => {
      named('latest', ['the id', 'latest'])
      expect(shown(['blame', 'latest'], "→ why: npx vitest-harvest show 'the id'")).toBe(
        "→ why: npx vitest-harvest show 'the id'",
      )
      expect(shown(['blame', 'latest'], '→ why: npx vitest-harvest show <tape>')).toBe(
        "→ why: npx vitest-harvest show 'recs it'\\''s/inbox/a b.tape.jsonl'",
      )
    })

    it('leaves the place open where several tapes were named, and text that only quotes a command', () => {
      named('a', [])
      noteNamed({ word: 'b', file: 'b', isCalled: () => false, isFoundBy: () => false })
      expect(shown(['doctor', 'a', 'b'], '→ why: npx vitest-harvest show <tape>')).toContain('show <tape>')
      expect(shown(['doctor', 'a'], 'said: npx vitest-harvest show <tape>')).toContain('show <tape>')
    })
  })

  it('is left out where the command that runs has no such option', () => {
    const step = '→ or on the command line: --oracle <file#export>'
    expect(shown(['fork', 'a', '--step', '1'], step)).toBeUndefined()
    expect(shown(['blame', 'a'], step)).toBe(
      "→ or on the command line: npx vitest-harvest blame a --oracle '<file#export>'",
    )
  })

  it.each([[['isolate']], [['blame', '--isolate']]])('of %j is one of blame', (words) => {
    const typed = [...words, "it's", '--ok', 'x']
    expect(shown(typed, '→ to find the answers it depends on: --mutate')).toBe(
      "→ to find the answers it depends on: npx vitest-harvest blame 'it'\\''s' --ok x --mutate",
    )
  })

  it('is the same for programs as for people', () => {
    const error = new HarvestError('HARVEST_LIVE_CONSENT', {
      what: 'It costs money',
      fix: ['to confirm: --live', 'to tell it apart: --baseline', 'think it over'],
    })
    const typed = ['blame', "it's a tape", '--json', '--ok', '"x"']
    shown(typed, '')
    const blame = specs.find(({ name }) => name === 'blame')
    const live = `npx vitest-harvest blame 'it'\\''s a tape' --ok '"x"' --live`
    const { facts, message } = withCommands(error, blame)
    expect(facts.fix).toEqual([`to confirm: ${live}`, 'think it over'])
    expect(message).toContain(`→ to confirm: ${live}\n→ think it over\n`)
    const next = nextCommands(
      ({ line, note, paint }) => {
        line(`a\n${paint('dim', '→ to confirm: --live')}`)
        note('→ to read it: npx vitest-harvest show a --step 3')
        line('→ think it over')
      },
      blame!,
      createScreen(),
    )
    expect(next).toEqual([live, 'npx vitest-harvest show a --step 3'])
  })

  it('stays as it is where no command runs', () => {
    expect(asCommand('→ to print it: --json', undefined)).toBe('→ to print it: --json')
  })
})

describe('behind a case of rerun that did not always pass', () => {
  const base = mkdtempSync(join(tmpdir(), 'harvest-next-'))
  afterAll(() => rmSync(base, { recursive: true, force: true }))

  it.each([
    ['whose answers can be others', {}, true],
    ['that only returns', { events: [] }, false],
  ] as const)('%s, blame by mutated answers is printed only where it works', (_, more, isPrinted) => {
    writeFileSync(join(base, 'one.tape.jsonl'), tapeText('one', more))
    const kase = { id: 'one', file: join(base, 'one.case.yaml'), tape: 'one.tape.jsonl', lines: {} }
    const rate = { case: 'one', expect: 'pass', runs: 2, passed: 1, offTape: 0, gradedBy: null, reasons: [] }
    const given = { has: () => false, value: () => undefined, values: () => [], args: [] }
    const rerun = {
      cases: [{ case: kase }],
      controls: [{}],
      ended: [],
      plan: { times: 2, limits: {} },
      prices: {},
      given,
    }
    const steps = stepsAfterRates([rate] as never, rerun as never)
    expect(steps.some(({ command }) => command.includes('--mutate'))).toBe(isPrinted)
  })
})
