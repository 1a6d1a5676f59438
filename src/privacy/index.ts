export { createRedactor, type Redactor, scan } from './redactor.ts'
export { isCredential, kindsOff, kindsOn } from './kinds.ts'
export { rulesForTape, rulesOfTape } from './rules.ts'
export type { Finding, RedactorOptions, RedactRule } from './types.ts'
