import { failures } from './failures.ts'
import { retries } from './retries.ts'
import type { Scenario } from './scenario.ts'
import { streams } from './streams.ts'

export { play, type Scenario, type ScenarioInput, slug } from './scenario.ts'

/** Every scenario by name. */
export const scenarios: Readonly<Record<string, Scenario>> = { ...streams, ...failures, ...retries }
