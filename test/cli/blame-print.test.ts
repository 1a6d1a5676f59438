import { resolve } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import type { RepairBlame, StepReport, BlameVerdict } from '../../src/blame/index.ts'
import type { BlamedRun } from '../../src/blame/run-blame.ts'
import { printBlame } from '../../src/cli/blame/print.ts'
import { notComparedText } from '../../src/cli/forking/anew.ts'
import { stepsAfterBlame, stepsToRun, testsElsewhere } from '../../src/cli/next-steps.ts'
import { findsHostile, hostilePayloads } from '../support/hostile.ts'

const none = { forks: 0, modelCalls: 0, tokens: 0 }
const step = (position: number, label: string, more: Partial<StepReport> = {}): StepReport => ({
  position,
  steps: [position + 1],
  label,
  isExogenous: position % 2 === 1,
  ...more,
})
const steps = [
  step(0, 'the model\'s decision lookup_order(order_id: "A-100")'),
  step(1, 'the answer of lookup_order(order_id: "A-100")'),
  step(2, "the model's decision refund(amount: 2500)"),
]

function blamed(verdict: BlameVerdict | undefined, more: Partial<BlamedRun> = {}): BlamedRun {
  return {
    estimand: 'interventional',
    perturbation: 'all steps after a replayed prefix are resampled',
    delta: 0.05,
    tau: 0.2,
    tail: 'noisy',
    spent: { ...none, forks: 24, now: { ...none, forks: 24 }, retries: 0 },
    reused: none,
    steps,
    methods: { verdict: 'sequential sign test', display: 'Newcombe' },
    tape: 'run-1',
    agent: 'refund',
    gradedBy: '--ok refund(amount: 25)',
    recorded: 'bad',
    tools: 'answered from the tape',
    models: ['gpt-5'],
    unclear: [],
    ...(verdict === undefined ? {} : { verdict }),
    ...more,
  }
}

const onlyEarlier = { ...none, forks: 6, now: none, retries: 0 }

function print(one: BlamedRun): string {
  const lines: string[] = []
  printBlame(one, {
    line: (text = '') => void lines.push(text),
    note: () => {},
    json: () => {},
    paint: (_, text) => text,
    progress: () => {},
  })
  return lines.join('\n')
}

it('says that more forks at once than usual are more in all, where any were made', () => {
  const typed = (parallel: string): void =>
    void vi.stubGlobal('process', {
      ...process,
      argv: ['node', 'vitest-harvest', 'blame', 'bad', '--parallel', parallel],
    })
  typed('64')
  const text = '--parallel 64: up to 64 forks start before the first is looked at'
  expect(print(blamed(undefined))).toContain(text)
  expect(print(blamed(undefined, { spent: onlyEarlier }))).not.toContain('--parallel')
  typed('8')
  expect(print(blamed(undefined))).not.toContain('--parallel')
  vi.unstubAllGlobals()
})

/** What is said above the table. */
function said(verdict: BlameVerdict | undefined, more: Partial<BlamedRun> = {}): string {
  return print(blamed(verdict, more)).split('\n\n')[0] ?? ''
}

const of = (ok: number, forks: number) => ({ ok, forks })
const repairs = (outcome: RepairBlame['outcome'], more: Partial<RepairBlame> = {}): Partial<BlamedRun> => ({
  repairs: { how: 'sprt', suspects: [1], clean: of(14, 15), outcome, necessary: [], sufficient: [], ...more },
})

describe('what blame says', () => {
  it('of steps that decided, the first one first', () => {
    const certified = { how: 'certified', difference: 0.9, evidence: 60, alpha: 0.025 } as const
    expect(
      said({
        kind: 'confirmed',
        commitments: [
          { position: 0, resampled: of(12, 12), kept: of(5, 12), ...certified },
          {
            position: 2,
            resampled: of(38, 40),
            kept: of(0, 0),
            ...certified,
            members: [{ step: 3, resampled: of(8, 8), kept: of(0, 8), isConfirmed: true }],
          },
        ],
        isStillRecoverable: true,
      }),
    ).toMatchInlineSnapshot(`
      "step 1, the model's decision lookup_order(order_id: "A-100"), made the bad outcome likelier:
        replayed, 5 of 12 runs end well (19 to 68 %); resampled, 12 of 12 do (76 to 100 %); certified at confidence 0.95
      step 3, the model's decision refund(amount: 2500), decided the outcome:
        replayed, it is the recorded run; resampled, 38 of 40 runs end well (83 to 99 %); certified at confidence 0.95
        of its steps, step 3 alone decided: resampled, 8 of 8 runs end well (68 to 100 %); replayed, 0 of 8 runs (0 to 32 %)
      After it, runs still end well often enough, but no later step was found."
    `)
  })

  it('of a run that two decisions spoiled together: the later one decided, the earlier one was necessary too', () => {
    const certified = { how: 'certified', difference: 1, evidence: 60, alpha: 0.01 } as const
    const decided = { position: 2, resampled: of(8, 8), kept: of(0, 8), ...certified }
    const earlier = { position: 0, resampled: of(11, 11), kept: of(0, 11), held: [2], ...certified }
    expect(said({ kind: 'confirmed', commitments: [decided] }, { earlier: [earlier] })).toMatchInlineSnapshot(`
      "step 3, the model's decision refund(amount: 2500), decided the outcome:
        replayed, 0 of 8 runs end well (0 to 32 %); resampled, 8 of 8 do (68 to 100 %); certified at confidence 0.95
      step 1, the model's decision lookup_order(order_id: "A-100"), was necessary too:
        with step 3 as recorded: replayed, 0 of 11 runs end well (0 to 26 %); resampled, 11 of 11 do (74 to 100 %); certified at confidence 0.95
      → to find whether an earlier recorded answer was necessary too, name a good run with other answers: --repairs --reference '<tape|case>'"
    `)
  })

  it('of an oracle that is known to disagree with itself: how often its grades agreed, and what certifies nothing', () => {
    const decided = { position: 2, resampled: of(8, 8), kept: of(0, 8), how: 'certified', difference: 1 } as const
    const sure = blamed(
      { kind: 'confirmed', commitments: [{ ...decided, evidence: 60, alpha: 0.01 }] },
      { selfAgreement: { same: 98, of: 100 } },
    )
    expect(print(sure)).toContain('98 of 100 single grades are those of the majority')
    expect(said({ kind: 'unsure', positions: [2] }, { selfAgreement: { same: 75, of: 100 } })).toMatchInlineSnapshot(`
      "Not certified: the oracle agrees with itself in 75 % of its grades, and 95 % are needed.
        it would have been step 3, the model's decision refund(amount: 2500)
      → to grade runs by a call that is right: --ok '<call>', without --oracle and --flaky-oracle"
    `)
  })

  it('of a good run of another input: what its answers are to', () => {
    const known = { answers: 'other', calls: 'other', ofOtherInput: ['other'] }
    const unclear = [{ because: 'HARVEST_NOT_RECORDED', forks: 9 }]
    const text = print(
      blamed(
        { kind: 'undecidable', forks: 9, undefined: 0, ungraded: 9, positions: [] },
        { unclear, knownRuns: known },
      ),
    )
    expect(text).toContain(
      '→ to answer tools from a good run of another input to the very same calls as well: --reference other',
    )
    expect(said({ kind: 'never', how: 'exact', forks: 1, ok: 0 }, { knownRuns: known })).toContain(
      '→ to find which recorded answers decided, with a good run of another input to the very same calls: --repairs --reference other',
    )
  })

  it('of --reference: its name where a good run is known that has what is needed, else that people have to name one', () => {
    const decided = { position: 2, resampled: of(8, 8), kept: of(0, 8), how: 'certified', difference: 1 } as const
    const verdicts: readonly (readonly [BlameVerdict, Partial<BlamedRun>])[] = [
      [{ kind: 'confirmed', commitments: [{ ...decided, evidence: 60, alpha: 0.01 }] }, {}],
      [{ kind: 'never', ok: 0, forks: 25, how: 'certified', rate: { low: 0, high: 0.2 } }, {}],
      [{ kind: 'never', ok: 0, forks: 25, how: 'doubted' }, { neverSeen: ['--ok x=1: no known run meets it'] }],
      [
        { kind: 'never', ok: 0, forks: 25, how: 'doubted' },
        { neverSeen: ['--oracle x: no run is known that it grades ok'], gradedBy: '--oracle x' },
      ],
      [
        { kind: 'undecidable', forks: 9, undefined: 9, ungraded: 0, positions: [] },
        { unclear: [{ because: 'HARVEST_NOT_RECORDED', forks: 9 }] },
      ],
    ]
    const lines = (knownRuns: NonNullable<BlamedRun['knownRuns']>): readonly string[] =>
      verdicts.flatMap(([verdict, more]) =>
        print(blamed(verdict, { ...more, knownRuns }))
          .split('\n')
          .filter((line) => line.includes('--reference')),
      )
    const open = lines({})
    expect(open).toHaveLength(7)
    for (const line of open) expect(line).toMatch(/^→ .*name a good run.*: .*--reference '<tape\|case>'$/)
    // That it passes is no help: it has no other answers.
    expect(lines({ passing: 'g' }).filter((line) => !line.includes('name a good run'))).toEqual([])
    const named = lines({ passing: 'g', answers: 'g', calls: 'g' })
    expect(named).toHaveLength(5)
    for (const line of named) expect(line).toMatch(/^→ .*good run.* --reference g$/)
  })

  it('of a good run that is named already: asks for no other one', () => {
    vi.stubGlobal('process', { ...process, argv: ['node', 'vitest-harvest', 'blame', 'bad', '--reference', 'good'] })
    try {
      const never = { kind: 'never', ok: 0, forks: 25, how: 'certified', rate: { low: 0, high: 0.2 } } as const
      expect(said(never).split('\n').at(-1)).toBe('→ to find which recorded answers decided: --repairs')
    } finally {
      vi.unstubAllGlobals()
    }
  })

  it('of a good run whose answers were changed: how it becomes a test, and not that of an incident', () => {
    const given = { args: ['good'], rest: undefined, value: () => undefined, values: () => [], has: () => false }
    const found = { file: resolve('recordings/inbox/good.tape.jsonl'), recordings: 'recordings' }
    const next = (recorded: 'ok' | 'bad') => stepsAfterBlame(found, { recorded }, given).map(({ command }) => command)
    expect(next('ok')).toEqual(["npx vitest-harvest promote good --as '<id>'"])
    expect(next('bad')).toEqual(["npx vitest-harvest promote good --as '<id>' --expect fail"])
  })

  it('of an oracle that asks models: what grading used is a part of what was spent, also where no fork was made', () => {
    const grading = { modelCalls: 12, tokens: 1440, costUsd: 0.0054 }
    const now = { forks: 2, modelCalls: 20, tokens: 2400, costUsd: 0.009, grading }
    expect(print(blamed(undefined, { spent: { ...now, now, retries: 0 } }))).toContain(
      '2 forks, 20 model calls, $0.0090, of which grading 12 model calls, $0.0054; models',
    )
    const unpriced = { ...none, modelCalls: 1, grading: { modelCalls: 1, tokens: 120 } }
    expect(print(blamed(undefined, { spent: { ...unpriced, now: unpriced, retries: 0 } }))).toContain(
      '0 forks, 1 model call, cost unknown, of which grading 1 model call, cost unknown; models',
    )
  })

  it('of a run whose models always say the same: without an interval', () => {
    const exact = {
      kind: 'confirmed',
      commitments: [{ position: 2, how: 'exact', resampled: of(1, 1), kept: of(0, 1), difference: 1 }],
      unseen: 2,
    } as const
    expect(said(exact, { tail: 'exact' })).toMatchInlineSnapshot(`
      "step 3, the model's decision refund(amount: 2500), decided the outcome:
        replayed, the run fails; resampled, it ends well (exact: a script answers the resampled steps)
      2 later steps were not tested: if the run recovered there, it was lost later."
    `)
    const whole = print(blamed(exact, { tail: 'exact', steps: [step(0, 'x', { drop: 1, value: 1 })] }))
    expect(whole).toContain('1.00')
    expect(whole).not.toContain('Newcombe')
  })

  it('of a step whose answer was never another one: what was drawn about it decided', () => {
    const one = { how: 'certified', difference: 0.5, resampled: of(10, 20), kept: of(0, 20), isDrawn: true } as const
    const at = (position: number) => said({ kind: 'confirmed', commitments: [{ position, ...one }] })
    expect(at(2)).toContain("What came behind step 3, the model's decision refund(amount: 2500), decided the outcome:")
    expect(at(2)).toContain('its decision was the same in every run')
    expect(at(1)).toMatch(/^What the agent's own code drew or read before step 2, .*, decided the outcome:/)
    expect(at(1)).toContain('where it was asked the same, it answered the same')
  })

  it('of a step whose free runs with every answer of the tape end well too: what the code draws decided, and no answer is named', () => {
    const one = { position: 2, how: 'certified', difference: 0.5, resampled: of(10, 20), kept: of(0, 20) } as const
    const codeAlone = (ok: number, bad: number, unknown: number) =>
      said({ kind: 'confirmed', commitments: [{ ...one, codeAlone: { ok, bad, unknown } }] })
    expect(codeAlone(9, 10, 1)).toMatchInlineSnapshot(`
      "What the agent's own code draws or reads from step 3 on decided the outcome:
        with every answer of models and tools from the tape, 9 of 19 runs end well (27 to 68 %): no answer is shown to have decided
        left are random numbers, ids, the clock, the state of its modules
      → to find whether an earlier recorded answer was necessary too, name a good run with other answers: --repairs --reference '<tape|case>'"
    `)
    expect(codeAlone(0, 12, 8)).toMatchInlineSnapshot(`
      "step 3, the model's decision refund(amount: 2500), or what the agent's own code draws or reads before it, decided the outcome:
        replayed, 0 of 20 runs end well (0 to 16 %); resampled, 10 of 20 do (30 to 70 %); certified at confidence 0.95
        which of the two is not known: with other random numbers, ids or times, 8 of 20 free runs ask there for something else, or cannot be graded
      → to find whether an earlier recorded answer was necessary too, name a good run with other answers: --repairs --reference '<tape|case>'"
    `)
    expect(codeAlone(0, 20, 0)).toBe(said({ kind: 'confirmed', commitments: [one] }))
    const likeliest = { position: 2, chance: 0.8, codeAlone: { ok: 3, bad: 17, unknown: 0 } }
    expect(said({ kind: 'unresolved', range: { from: 2, to: 2 }, never: 0, likeliest })).toContain(
      "likeliest, not certified: What the agent's own code draws or reads from step 3 on (80 %)",
    )
  })

  it('of a model that decides the same in other words: not that the code fails with any decision', () => {
    const never = { kind: 'never', ok: 0, forks: 25, how: 'certified', rate: { low: 0, high: 0.2 } } as const
    const of25 = (decisions: number) =>
      said(never, {
        steps: [
          { ...steps[0]!, isExogenous: false, resampled: { ok: 0, failed: 25, distinct: 25, decisions } } as StepReport,
        ],
      })
    expect(of25(1)).toContain('Its models decide the same each time, and the run fails: check the prompt, the model')
    expect(of25(3)).toContain(
      'or a model that is nearly always wrong: the run fails with each of 3 different decisions',
    )
    const known = said(never, { knownRuns: { passing: 'last' } })
    expect(known).toContain('→ to see what a run that passes does: npx vitest-harvest show last')
  })

  it('of answers that the good run does not have: neither repaired nor cleared', () => {
    const never = { kind: 'never', ok: 0, forks: 25, how: 'certified', rate: { low: 0, high: 0.2 } } as const
    const tools = { ...steps[1]!, isExogenous: true } as StepReport
    const more = { steps: [steps[0]!, tools], unrepaired: [1] }
    const whole = said(never, { steps: [steps[0]!, tools], ...repairs('no_help') })
    expect(whole).not.toContain('answers of its tools')
    const helped = said(never, { ...more, ...repairs('no_help') })
    expect(helped).toContain('check the prompt, the code of the agent or the answers of its tools')
    expect(helped).toContain('not repaired, for the run of --reference has no answer to it: step 2')
    const equal = said(never, { ...more, ...repairs('equal') })
    expect(equal).toContain('No recorded answer could be repaired with another one.')
    expect(equal).not.toContain('those of the good run are the same')
  })

  it('of a condition on what no run has: nothing of the code, which may do what is right', () => {
    const never = { kind: 'never', ok: 0, forks: 25, how: 'certified', rate: { low: 0, high: 0.2 } } as const
    const one = { ...steps[0]!, isExogenous: false, resampled: { ok: 0, failed: 25, distinct: 2 } } as StepReport
    const code = "The agent's own code decided"
    expect(said(never, { steps: [one] })).toContain(code)
    const typo = said(never, { steps: [one], neverSeen: ['No run could meet --ok refnd(): unknown tool refnd'] })
    expect(typo).not.toContain(code)
    expect(typo).toContain('No claim: none of 25 runs met the condition, and it is not known that a run can meet it.')
    expect(typo).toContain('unknown tool refnd')
    expect(said({ ...never, forks: 0, how: 'exact' }, { neverSeen: ['x'] })).toContain('No claim: it is not known')
    const known = said(never, { steps: [one], neverSeen: ['x'], knownRuns: { passing: 'last' } })
    expect(known).toContain('→ to see what a run that passes does: npx vitest-harvest show last')
    expect(known).not.toContain('--reference')
    expect(typo).toContain('the code of the agent or its prompt decided')
    // What the tape answers for tools is the same in each run.
    const fromTape = { ...one, isExogenous: true }
    expect(said(never, { steps: [fromTape], neverSeen: ['x'] })).toContain(
      'the code of the agent, its prompt or the answers of its tools decided',
    )
  })

  it('of a function that grades no run ok: an either/or, and what tells the two apart', () => {
    const never = { kind: 'never', ok: 0, forks: 25, how: 'doubted', rate: { low: 0, high: 0.2 } } as const
    const [model] = steps
    const by = {
      steps: [model!],
      gradedBy: '--oracle ./o.ts#no',
      neverSeen: ['--oracle ./o.ts#no: no run is known that it grades ok'],
    }
    const text = said(never, by)
    expect(text).toContain(
      'No claim: none of 25 runs is graded ok, and it is not known that the oracle grades a run of this input ok.',
    )
    expect(text).toContain(
      'Either the code of the agent or its prompt decided, or the oracle calls good runs bad, too.',
    )
    expect(text).toContain("→ to tell the two apart, name a good run: --reference '<tape|case>'")
    expect(text).toContain("→ to grade runs by a call that is right: --ok '<call>', without --oracle")
    expect(text).not.toContain('certified')
    expect(said(never, { ...by, knownRuns: { passing: 'last' } })).not.toContain('--reference')
  })

  it('of a run that no step decided', () => {
    const never = {
      kind: 'never',
      how: 'certified',
      ok: 0,
      forks: 19,
      rate: { low: 0, high: 0.19 },
      alpha: 0.025,
    } as const
    expect(said(never)).toMatchInlineSnapshot(`
      "No step was shown to decide the outcome: check the prompt, the code of the agent or the answers of its tools.
        with all model answers resampled, 0 of 19 runs end well (0 to 17 %); certified: fewer than 19 % do
      → to find which recorded answers decided, name a good run with other answers: --repairs --reference '<tape|case>'"
    `)
    const few = { ...never, ok: 6, forks: 30, rate: { low: 0.06, high: 0.44 } }
    expect(said(few, { tau: 0.9 }).split('\n').slice(0, -1)).toEqual([
      'No single step has an effect of 0.9 or more (--min-effect). One may have a smaller one, or several.',
      '  with all model answers resampled, 6 of 30 runs end well (10 to 37 %); certified: fewer than 44 % do',
      expect.stringMatching(/^→ to find which/),
    ])
    expect(said(few, { tau: 0.9 })).toContain(
      '→ to look for a smaller effect, with all runs so far: --min-effect 0.2, without --no-cache',
    )
    expect(said(never, { tau: 0.9 })).toBe(said(never))
    expect(said(never, repairs('found', { necessary: [1], sufficient: [1], repairSet: [1] }))).toMatchInlineSnapshot(`
      "No model decided the outcome: recorded answers did.
        with all model answers resampled, 0 of 19 runs end well (0 to 17 %); certified: fewer than 19 % do
      Recorded answers made the run fail; with all of them repaired, 14 of 15 runs end well (70 to 99 %):
        necessary (repaired alone, the run ends well): step 2, the answer of lookup_order(order_id: "A-100")
        sufficient (as recorded alone, the run fails): step 2, the answer of lookup_order(order_id: "A-100")
        a smallest set of repairs: step 2, the answer of lookup_order(order_id: "A-100")"
    `)
  })

  it('of recorded answers that explain nothing', () => {
    expect(said(undefined, repairs('not_needed'))).toMatchInlineSnapshot(
      `"No recorded answer is to blame: with all of them as recorded, resampled runs end well."`,
    )
    expect(said(undefined, repairs('no_help', { clean: of(0, 15) }))).toMatchInlineSnapshot(
      `"No recorded answer was shown to explain it: with all of them repaired, 0 of 15 runs end well (0 to 20 %)."`,
    )
    expect(said(undefined, repairs('unresolved'))).toContain('Stopped by a limit before')
    expect(said(undefined, repairs('undecidable'))).toContain('Undecidable')
  })

  it('of a limit that leaves room for no run: no likeliest step', () => {
    const open = { range: { from: 0, to: 2 }, never: 0.13, likeliest: { position: 2, chance: 0.2 } } as const
    const nothing = { ...none, now: none, retries: 0 }
    const text = print(
      blamed(
        { kind: 'unresolved', ...open, forksNeeded: 58, stoppedBy: 'costUsd' },
        { spent: nothing, steps: steps.map((one) => ({ ...one, commitment: 'likeliest' as const })) },
      ),
    )
    expect(text).toMatch(/^Not resolved: the limit in dollars leaves room for no run\.\n\nstep/)
    expect(text).not.toContain('likel')
  })

  it('of a run that it cannot resolve: where the step lies, and what it would take', () => {
    const open = { range: { from: 1, to: 2 }, never: 0.05, likeliest: { position: 2, chance: 0.6 } } as const
    expect(said({ kind: 'unresolved', ...open, forksNeeded: 40, stoppedBy: 'costUsd' })).toMatchInlineSnapshot(`
      "Not resolved: stopped by the limit in dollars.
        if one step decided, it lies between step 2 and step 3 (90 % credible range)
        likeliest, not certified: step 3, the model's decision refund(amount: 2500) (60 %)
        that no step decided: 5 %
      About 40 more forks are likely needed."
    `)
    expect(
      said({ kind: 'unresolved', ...open, forksNeeded: 40, stoppedBy: 'costUsd' }, { spent: onlyEarlier }),
    ).toContain('About 40 more forks are likely needed; this limit leaves room for none.')
    expect(said({ kind: 'unresolved', ...open, forksNeeded: 310, stoppedBy: 'smallEffect' })).toMatchInlineSnapshot(`
      "Not resolved: no step has a large effect, and a small one takes many runs to certify.
        if one step decided, it lies between step 2 and step 3 (90 % credible range)
        likeliest, not certified: step 3, the model's decision refund(amount: 2500) (60 %)
        that no step decided: 5 %
      → to go on, with all runs so far: --max-runs 400, without --no-cache"
    `)
    expect(said({ kind: 'diffuse', ...open })).toMatchInlineSnapshot(`
      "Not resolved: no single step was shown to decide the outcome. Several may have, each a little.
        if one step decided nevertheless, it lies between step 2 and step 3 (90 % credible range)
        likeliest, not certified: step 3, the model's decision refund(amount: 2500) (60 %)
        that no step decided: 5 %"
    `)
    const tested = { ...open, smaller: 1 } as const
    const dropped = steps.map((one, position) => ({ ...one, drop: position === 1 ? 0.48 : 0 }))
    expect(said({ kind: 'diffuse', ...tested }, { steps: dropped, tau: 0.9 })).toBe(
      [
        'Not resolved: no single step was shown to have an effect of 0.9 or more (--min-effect). One may have a smaller one, or several.',
        '  largest effect measured, not certified: step 2, the answer of lookup_order(order_id: "A-100") (0.48)',
        '→ to look for a smaller effect, with all runs so far: --min-effect 0.2, without --no-cache',
      ].join('\n'),
    )
    const likeliest = { position: 1, chance: 0.9, isDrawn: true } as const
    expect(said({ kind: 'unresolved', ...open, likeliest })).toContain(
      "likeliest, not certified: What the agent's own code drew or read before step 2",
    )
  })

  it('of kept forks names the headers that were not compared, and why', () => {
    const names = { unkept: ['authorization', 'baggage'], varying: ['x-ctx'] }
    expect(notComparedText(names)).toBe(
      'In forks of earlier sessions, these headers were not compared with those of today: authorization, baggage (nothing of their values is kept), x-ctx (another value in each replay).',
    )
    expect(notComparedText({ ...names, unkept: [] })).toMatch(/today: x-ctx \(another value in each replay\)\.$/)
    const hostile = hostilePayloads.map(({ text }) => notComparedText({ unkept: [text], varying: [text] }))
    expect(hostile.flatMap((text) => findsHostile(text))).toEqual([])
  })

  it('of too few graded forks of one step: which one, where the forks of all steps are enough', () => {
    const verdict = { kind: 'undecidable', forks: 30, undefined: 0, ungraded: 5, positions: [1, 2] } as const
    expect(said(verdict, { unclear: [] })).toBe(
      'Undecidable: 5 of 30 forks are ungraded: too many of those that test steps 2 and 3.',
    )
  })

  it('of a run whose forks cannot be graded: why, and what would help', () => {
    const verdict = { kind: 'undecidable', forks: 10, undefined: 0, ungraded: 6, positions: [0] } as const
    const because =
      'The agent requested something that is not on the tape: refund({"amount":25}) (HARVEST_NOT_RECORDED)'
    expect(said(verdict, { unclear: [{ because, forks: 6 }] })).toMatchInlineSnapshot(`
      "Undecidable: 6 of 10 forks are ungraded.
        6 × The agent requested something that is not on the tape: refund({"amount":25}) (HARVEST_NOT_RECORDED)
      → to grade runs by a call that is right: --ok '<call>'
      → to answer tools as well, name a good run that made such calls: --reference '<tape|case>'
      → to call tools for real, with their side effects: --tools live"
    `)
    const byCalls = said(verdict, { unclear: [{ because, forks: 6 }], isGradedByCalls: true })
    expect(byCalls).not.toContain('--ok')
    expect(byCalls).toContain('--tools live')
    expect(said(verdict, { unclear: [{ because: './judge.ts#isRight cannot say', forks: 6 }] })).toMatchInlineSnapshot(`
      "Undecidable: 6 of 10 forks are ungraded.
        6 × ./judge.ts#isRight cannot say
      → to grade runs by a call that is right: --ok '<call>'
      → or let the oracle return true or false for such runs, not undefined"
    `)
    const neither = { unclear: [{ because: 'Neither --ok nor --bad fits the run', forks: 6 }] }
    expect(said(verdict, neither)).not.toContain('→')
    const argv = [
      'node',
      'vitest-harvest',
      'blame',
      'bad',
      '--ok',
      'refund(amount: 25)',
      '--bad',
      'refund(amount: 2500)',
    ]
    vi.stubGlobal('process', { ...process, argv })
    expect(said(verdict, neither)).toContain('→ to take such runs for bad: the same command, without --bad')
    vi.unstubAllGlobals()
  })

  it('of answers the outcome hangs on', () => {
    const mutated = { flips: 8, forks: 8 }
    const control = { flips: 0, forks: 8 }
    const found = { position: 1, how: 'certified', mutated, control, difference: 1, mutants: 5, evidence: 60 } as const
    const mutations = (verdict: NonNullable<BlamedRun['mutations']>['verdict']): Partial<BlamedRun> => ({
      mutations: { verdict, isDeterministic: false, positions: [] },
    })
    expect(said(undefined, mutations({ kind: 'responsible', positions: [found] }))).toMatchInlineSnapshot(`
      "The outcome depends on step 2, the answer of lookup_order(order_id: "A-100"):
        changed, 8 of 8 runs end differently (5 distinct changes); as recorded, 0 of 8 do (0 to 32 %); certified, e-value 60"
    `)
    // The pairs that certify repeat changes: the rate is that of the table, where each counts once.
    const table = { position: 1, mutants: 12, tried: 10, inert: 0, forks: 22, rate: 0.8, undefinedRate: 0 }
    const positions = [{ ...table, display: { low: 0.49, high: 0.94 } }]
    const of = { verdict: { kind: 'responsible', positions: [found] }, isDeterministic: false, positions } as const
    expect(said(undefined, { mutations: of })).toContain(
      'changed, runs end differently at a rate of 0.80 (0.49 to 0.94; 10 distinct changes); as recorded, 0 of 8',
    )
    expect(said(undefined, mutations({ kind: 'none' }))).toContain('depends on no single answer')
    expect(said(undefined, mutations({ kind: 'unshown', untried: [0, 2] }))).toMatch(
      /not all of them are ruled out\.\n {2}not tried, as no single value of it can be changed: steps 1, 3$/,
    )
    expect(said(undefined, mutations({ kind: 'unresolved' }))).toContain('Not resolved')
  })

  it.each([
    ['unshown', false, 12, 'not shown'],
    ['unshown', true, 12, 'no'],
    ['unshown', true, 10, 'not shown'],
    ['none', false, 12, 'no'],
  ] as const)(
    'of an answer that does not stand the test: %s, exact %s, %i of 12 changes: %s',
    (kind, isDeterministic, tried, says) => {
      const mutated = { position: 0, mutants: 12, tried, inert: 0, forks: 22, rate: 0.8, undefinedRate: 0 }
      const text = print(
        blamed(undefined, {
          mutations: { verdict: { kind }, isDeterministic, positions: [mutated] },
          steps: [{ ...steps[0]!, mutated, isResponsible: false }],
        }),
      )
      expect(text).toMatch(new RegExp(`${tried} of 12 .* ${says}\\n`))
    },
  )

  it('is neutral, whatever is on the tape', () => {
    for (const { text } of hostilePayloads) {
      const hostile = print(
        blamed(
          { kind: 'undecidable', forks: 9, undefined: 0, ungraded: 9, positions: [] },
          {
            steps: [step(0, text)],
            models: [text],
            gradedBy: text,
            tools: text,
            commit: text,
            repairedBy: text,
            unclear: [{ because: text, forks: 9 }],
            ...repairs('found', { necessary: [0] }),
          },
        ),
      )
      expect(findsHostile(hostile)).toEqual([])
    }
  })
})

it('calls runs of which none could be judged so, and gives no share of nothing', () => {
  const of = (ok: number, forks: number) => ({ ok, forks })
  const lost = { ok: 0, failed: 0, undefined: 1, ungraded: 2 } as StepReport['resampled']
  const text = print(
    blamed(
      {
        kind: 'confirmed',
        commitments: [
          {
            position: 2,
            kept: of(0, 9),
            resampled: of(8, 9),
            ...{ how: 'certified' as const, difference: 0.9, evidence: 60, alpha: 0.025 },
            members: [{ step: 3, resampled: of(8, 8), kept: of(0, 0), isConfirmed: false }],
          },
        ],
      },
      { steps: [...steps.slice(0, 2), { ...steps[2]!, ...(lost === undefined ? {} : { resampled: lost }) }] },
    ),
  )
  expect(text).toContain('replayed, no run could be judged')
  expect(text).toContain('none of 3 could be judged')
  expect(text).not.toContain('0 of 0')
})

describe('a case that was written', () => {
  it('is run by Vitest in the usual folder, and replayed where it is in any other: which one the config names is not known', () => {
    expect([stepsToRun('paid', 'to run it'), testsElsewhere()]).toEqual([
      [{ about: 'to run it', command: 'npx vitest run' }],
      [],
    ])
    expect([stepsToRun('paid', 'to run it', 'other'), testsElsewhere('other')]).toEqual([
      [{ about: 'to run it', command: 'npx vitest-harvest show paid --replay --dir other' }],
      [expect.stringContaining('harvest({ recordings: "other" })')],
    ])
  })
})
