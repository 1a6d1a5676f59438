export type { ProblemLocation, Cause } from './problems/place.ts'
export { unlessAsked, missCause, passedOver, noAnswer, notEnded, bodyNotRecorded } from './problems/requests.ts'
export {
  wrongCall,
  unknownCall,
  otherArguments,
  otherResult,
  leftOutInside,
  readTooOften,
  outOfOrder,
  withClients,
  withLosses,
  withPassedOver,
  keptHeader,
  withMissedHeaders,
  unusedSteps,
  keptOn,
  notAwaited,
  notAwaitedInside,
  queryBuiltFurther,
  readsOn,
} from './problems/calls.ts'
export { childFrame, childNotAwaited } from './problems/children.ts'
export {
  escaped,
  mocked,
  escapedWhileLoading,
  runOver,
  afterRun,
  lateAction,
  notOnTape,
  startedOtherwise,
  notStarted,
} from './problems/escapes.ts'
export { isOwnStray, type Stray, unhandled } from './problems/strays.ts'
export { driftRefused, sharedKey } from './problems/drift.ts'
export { type Awaited, spinning, timedOut, hanging, givenUp, undeliverable } from './problems/time.ts'
