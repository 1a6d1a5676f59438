import type { Bar, Table } from '../kit/contract.ts'
import { provedAgents } from './agents.ts'
import { type Ending, gateRates } from './exact.ts'
import { models } from './sessions.ts'
import type { Row, Share } from './share.child.ts'

const endings: readonly Ending[] = ['proven', 'worse', 'flaky', 'open']
const expected = models.map((rates) => gateRates(rates))

export function tablesOf(shares: readonly Share[]): readonly Table[] {
  const rows = shares.flatMap((share) => share.rows)
  return [byModel(rows), byAgent(rows), ofEdits(shares), ofStops(shares)]
}

export function barsOf(shares: readonly Share[]): readonly Bar[] {
  const rows = shares.flatMap((share) => share.rows)
  const edits = shares.flatMap((share) => share.edits)
  const sum = (of: readonly number[]): number => of.reduce((total, each) => total + each, 0)
  const proofs = rows.length
  const wrong = edits.flatMap((each) => each.wrong)
  const ofAgents = provedAgents.map(({ subject }) =>
    Math.max(...offAt(rows.filter(({ agent }) => agent === subject.name))),
  )
  const ofModels = models.map((_, model) => Math.max(...offAt(rows.filter((row) => row.model === model))))
  const stopped = shares.flatMap(({ stops }) => stops.flatMap((each) => each.stopped))
  const each = Math.round(proofs / provedAgents.length)
  // The promise is one for 2,000 proofs of an agent; fewer may miss it by chance alone.
  const shortfall = each < 2_000 ? { shortfall: tooFew(each) } : {}
  return [
    {
      what: `proofs that end as the gate says of what was drawn, of ${proofs}`,
      value: rows.filter(({ isAsDrawn }) => isAsDrawn).length / proofs,
      limit: { atLeast: 1 },
    },
    {
      what: 'share of an ending beside that of the gate, of six agents the farthest',
      value: rounded(Math.max(...ofAgents)),
      limit: { atMost: 0.02 },
      ...shortfall,
    },
    {
      what: 'share of an ending beside that of the gate, of six models the farthest',
      value: rounded(Math.max(...ofModels)),
      limit: { atMost: 0.02 },
      ...shortfall,
    },
    {
      what: `edits that are called wrong, of ${sum(edits.map(({ harmless, regressions }) => harmless + regressions))} unproven ones`,
      value: wrong.length,
      limit: { atMost: 0 },
    },
    {
      what: `proofs that pass their budget, of ${sum(shares.flatMap(({ budgets }) => budgets.map((each) => each.proofs)))}`,
      value: sum(shares.flatMap(({ budgets }) => budgets.map(({ passed }) => passed))),
      limit: { atMost: 0 },
    },
    {
      what: `stopped proofs that do not go on where they were, of ${stopped.length}`,
      value: stopped.filter((each) => each.wrong !== undefined).length,
      limit: { atMost: 0 },
    },
  ]
}

function tooFew(each: number): string {
  return `the limit is for 2,000 proofs of each agent, and this machine made ${each} in the time there was: chance alone moves a share that far. Proof by proof nothing is left to chance, see the row above`
}

function byModel(rows: readonly Row[]): Table {
  return {
    title: 'How proofs end, in shares: measured (the gate)',
    columns: ['right now', 'right before', 'proofs', ...endings, 'other', 'model calls a proof'],
    rows: models.map(({ changed, recorded }, model) => {
      const of = rows.filter((row) => row.model === model)
      const calls = of.reduce((sum, row) => sum + row.calls, 0)
      return [
        `${changed}`,
        `${recorded}`,
        `${of.length}`,
        ...endings.map((ending) => beside(shareOf(of, ending), expectedShare(of, ending))),
        `${othersIn(of)}`,
        (calls / of.length).toFixed(1),
      ]
    }),
  }
}

function byAgent(rows: readonly Row[]): Table {
  return {
    title: 'The same by agent, all models together',
    columns: ['agent', 'proofs', ...endings, 'other', 'as drawn'],
    rows: provedAgents.map(({ subject: { name } }) => {
      const of = rows.filter(({ agent }) => agent === name)
      return [
        name,
        `${of.length}`,
        ...endings.map((ending) => beside(shareOf(of, ending), expectedShare(of, ending))),
        `${othersIn(of)}`,
        `${of.filter(({ isAsDrawn }) => isAsDrawn).length}`,
      ]
    }),
  }
}

function ofEdits(shares: readonly Share[]): Table {
  const rows = shares.flatMap(({ edits }) => edits).toSorted((a, b) => (a.agent < b.agent ? -1 : 1))
  return {
    title: 'Unproven edits, asked of the model of the world',
    columns: ['agent', 'harmless', 'regressions', 'called wrong'],
    rows: rows.map(({ agent, harmless, regressions, wrong }) => [
      agent,
      `${harmless}`,
      `${regressions}`,
      wrong.join('; ') || 'none',
    ]),
  }
}

function ofStops(shares: readonly Share[]): Table {
  return {
    title: 'Proofs with too little, and proofs that were stopped',
    columns: ['agent', 'with a budget', 'passed it', 'stopped at', 'went on wrong'],
    rows: provedAgents.map(({ subject: { name } }) => {
      const budget = shares.flatMap(({ budgets }) => budgets).find(({ agent }) => agent === name)
      const stopped = shares.flatMap(({ stops }) => stops).find(({ agent }) => agent === name)?.stopped ?? []
      const wrong = stopped.flatMap((each) => each.wrong ?? [])
      return [
        name,
        `${budget?.proofs ?? 0}`,
        `${budget?.passed ?? 0}`,
        `${stopped.length} places of the log`,
        wrong.length === 0 ? 'none' : `${wrong.length}: ${wrong[0]}`,
      ]
    }),
  }
}

/** How far each ending is off, as a share. */
function offAt(rows: readonly Row[]): readonly number[] {
  return endings.map((ending) => Math.abs(shareOf(rows, ending) - expectedShare(rows, ending)))
}

function shareOf(rows: readonly Row[], ending: Ending): number {
  return rows.filter(({ decision }) => decision === ending).length / rows.length
}

/** What the gate says of the same number of proofs with each model. */
function expectedShare(rows: readonly Row[], ending: Ending): number {
  return rows.reduce((total, { model }) => total + (expected[model]?.shares[ending] ?? 0), 0) / rows.length
}

/** Endings that the gate does not have: nothing to ask, no money. */
function othersIn(rows: readonly Row[]): number {
  return rows.filter(({ decision }) => !endings.some((ending) => ending === decision)).length
}

function beside(measured: number, gate: number): string {
  return `${measured.toFixed(3)} (${gate.toFixed(3)})`
}

function rounded(value: number): number {
  return Math.round(value * 10_000) / 10_000
}
