/** Whether a replay is what its case says. */
export { type CaseVerdict, type Difference, judge } from './judge.ts'
export { callsLeftOut } from './left-out.ts'
