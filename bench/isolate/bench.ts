import type { IsolatedRun } from '../../src/isolate/index.ts'
import { clopperPearson } from '../../src/stats/index.ts'
import type { Bench, Table } from '../kit/contract.ts'
import { incidentOf, type Layer, layers } from './incident.ts'
import { openScene, type RecordedIncident } from './measure.ts'

const budget = 0.1
const tightBudget = 0.005

interface Measured {
  readonly layer: Layer
  readonly isolated: IsolatedRun
  readonly isNaive: boolean
  readonly isReplayed: boolean
}

const bench: Bench = {
  question: 'Does it name the layer that triggers a failure?',
  async run({ isQuick, scratch, progress }) {
    const scene = await openScene(scratch)
    const [each, few] = isQuick ? [2, 1] : [50, 12]
    const measured: Measured[] = []
    const tight: Measured[] = []
    const noticed: Measured[] = []
    try {
      for (const layer of layers)
        for (let number = 0; number < each; number++) {
          progress(`${layer} ${number + 1} of ${each}`)
          measured.push(await measure(layer, await scene.record(incidentOf(layer, number)), budget))
        }
      for (const layer of layers)
        for (let number = 0; number < few; number++) {
          progress(`${layer} with a small budget, ${number + 1} of ${few}`)
          tight.push(await measure(layer, await scene.record(incidentOf(layer, 1_000 + number)), tightBudget))
        }
      for (let number = 0; number < few; number++) {
        progress(`data the model notices, ${number + 1} of ${few}`)
        const incident = incidentOf('data', 2_000 + number, { noticed: 0.1 })
        noticed.push(await measure('data', await scene.record(incident), budget))
      }
    } finally {
      await scene.close()
    }
    const wrong = [...measured, ...tight].filter((one) => isWrong(one))
    const rights = layers.map((layer) => shareOf(of(measured, layer), isRight))
    const parts = Object.fromEntries(layers.map((layer, at) => [layer, rights[at] ?? 0]))
    return {
      tables: [layerTable(measured), naiveTable(measured), tightTable(tight, noticed)],
      bars: [
        {
          what: 'failures whose layer is named ÷ all, of the worst layer',
          value: Math.min(...rights),
          parts,
          limit: { atLeast: 0.95 },
        },
        {
          what: 'another layer named ÷ all',
          value: wrong.length / (measured.length + tight.length),
          parts: { failures: measured.length + tight.length },
          limit: { atMost: 0.02 },
        },
        {
          what: 'largest cost ÷ budget',
          value: Math.max(
            ...measured.map(({ isolated }) => costOf(isolated) / budget),
            ...tight.map(({ isolated }) => costOf(isolated) / tightBudget),
          ),
          limit: { atMost: 1 },
        },
        {
          what: 'replays of the tape that fail as recorded ÷ all',
          value: shareOf(measured, ({ isReplayed }) => isReplayed),
          parts: { 'run again': shareOf(measured, ({ isNaive }) => isNaive) },
          limit: { atLeast: 1 },
        },
      ],
      remarks: [
        'Intervals are those of Clopper and Pearson, 95 %.',
        '"Run again" calls the agent once more with the recorded input, twelve hours later, with its models and tools as they are by then.',
        'A data fault that the model notices in one run of ten is two causes in one: data and sampling are both right answers, and are counted apart.',
      ],
    }
  },
}
export default bench

async function measure(layer: Layer, one: RecordedIncident, costUsd: number): Promise<Measured> {
  return {
    layer,
    isNaive: await one.naive('again'),
    isReplayed: await one.replay(),
    isolated: await one.isolate({ costUsd }),
  }
}

function namedBy({ verdict }: IsolatedRun): string {
  return verdict.kind === 'found' ? verdict.layers.join(' and ') : 'none'
}

function isRight({ layer, isolated }: Measured): boolean {
  return namedBy(isolated) === layer
}

function isWrong(one: Measured): boolean {
  return one.isolated.verdict.kind === 'found' && !isRight(one)
}

function costOf({ spent }: IsolatedRun): number {
  return spent.now.costUsd ?? 0
}

function of(measured: readonly Measured[], layer: Layer): readonly Measured[] {
  return measured.filter((one) => one.layer === layer)
}

function shareOf(measured: readonly Measured[], is: (one: Measured) => boolean): number {
  return measured.filter(is).length / measured.length
}

function counted(measured: readonly Measured[], is: (one: Measured) => boolean): string {
  const hits = measured.filter(is).length
  const { low, high } = clopperPearson(hits, measured.length)
  return `${hits} of ${measured.length} (${low.toFixed(2)} to ${high.toFixed(2)})`
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

function layerTable(measured: readonly Measured[]): Table {
  return {
    title: `Failures of one layer, at most $${budget} each`,
    columns: ['planted', 'named', 'another named', 'none named', 'runs', 'model calls', 'cost', 'highest cost'],
    rows: layers.map((layer) => {
      const own = of(measured, layer)
      const spent = own.map(({ isolated }) => isolated.spent.now)
      return [
        layer,
        counted(own, isRight),
        `${own.filter(isWrong).length}`,
        `${own.filter(({ isolated }) => isolated.verdict.kind === 'unresolved').length}`,
        mean(spent.map(({ forks }) => forks)).toFixed(0),
        mean(spent.map(({ modelCalls }) => modelCalls)).toFixed(0),
        `$${mean(own.map(({ isolated }) => costOf(isolated))).toFixed(4)}`,
        `$${Math.max(...own.map(({ isolated }) => costOf(isolated))).toFixed(4)}`,
      ]
    }),
  }
}

function naiveTable(measured: readonly Measured[]): Table {
  return {
    title: 'Does the failure come back?',
    columns: ['planted', 'run again', 'replayed from the tape'],
    rows: layers.map((layer) => {
      const own = of(measured, layer)
      return [layer, counted(own, ({ isNaive }) => isNaive), counted(own, ({ isReplayed }) => isReplayed)]
    }),
  }
}

function tightTable(tight: readonly Measured[], noticed: readonly Measured[]): Table {
  const row = (name: string, own: readonly Measured[], limit: number): readonly string[] => [
    name,
    [...Map.groupBy(own, ({ isolated }) => namedBy(isolated))].map(([said, all]) => `${said} ${all.length}`).join(', '),
    `$${limit}`,
    `$${Math.max(...own.map(({ isolated }) => costOf(isolated))).toFixed(4)}`,
  ]
  return {
    title: 'Harder ones: what is named',
    columns: ['planted', 'named', 'budget', 'highest cost'],
    rows: [
      ...layers.map((layer) => row(`${layer}, small budget`, of(tight, layer), tightBudget)),
      row('data that the model notices in one run of ten', noticed, budget),
    ],
  }
}
