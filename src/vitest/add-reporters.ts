import type { Vitest } from 'vitest/node'
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
  // The first sees recorded text before it is printed, the last sums up below what the others print.
  list.unshift(new NeutralReporter())
  list.push(Object.assign(new HarvestReporter({ choice }), { [mark]: true }))
}
