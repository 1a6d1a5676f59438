export {
  type CompiledRule,
  compileRule,
  isTrueOfRun,
  positionsWhere,
  RuleMonitor,
} from './compile.ts'
export { atomsOf } from './variables.ts'
export { parseRule, readRule } from './parse.ts'
export type { Amount, RunPosition } from './position.ts'
export { printRule } from './print.ts'
export { describeProblem } from './problem.ts'
export type { Expression, RuleProblem } from './types.ts'
export { compareRules, type RuleChange } from './strictness.ts'
