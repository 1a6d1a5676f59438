import type { Reporter, Vitest } from 'vitest/node'
import { NeutralReporter } from './neutral-reporter.ts'
import { HarvestReporter } from './reporter.ts'
import type { UpdateChoice } from './update-mode.ts'

// Vite bundles a config with the plugin it imports by path, once for each project: classes differ, the symbol does not.
const mark = Symbol.for('vitest-harvest/reporter@1')

/** Adds our reporters to a run of Vitest, once, however many projects and copies of this package it has. */
export function addReporters(vitest: Pick<Vitest, 'config'>, choice: UpdateChoice): void {
  // The list also holds instances; its type only knows names.
  const list = vitest.config.reporters as unknown[]
  if (list.some((one) => typeof one === 'object' && one !== null && mark in one)) return
  // The first see recorded text, and write what was accepted, before anything is printed; the last sums up below the others.
  const harvest = new HarvestReporter({ choice })
  list.unshift(new NeutralReporter(), { onTestRunEnd: harvest.settle.bind(harvest) } satisfies Reporter)
  list.push(Object.assign(harvest, { [mark]: true }))
}
