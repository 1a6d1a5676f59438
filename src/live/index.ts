/** Runs that call models for real, with everything else from the tape. */
export {
  type Budget,
  type BudgetLimits,
  estimatedUsage,
  noPrice,
  openBudget,
  type Spent,
  unpaid,
  type Use,
  usageOf,
} from './budget.ts'
export { runLive } from './live.ts'
