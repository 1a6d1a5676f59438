/** Statistics of repeated runs: every interval says how it was made. */
export { type Interval, wilson } from './wilson.ts'
export type { ForkDraw, ForkSource, ForkSpec, Grade, Position } from './types.ts'
