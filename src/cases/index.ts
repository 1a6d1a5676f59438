/** The case file: its schema, reading it with line numbers, and what an update may rewrite. */
export { type DuplicateId, findDuplicateIds } from './duplicates.ts'
export { loadCase, requireTapeFile } from './load.ts'
export { caseErrorPlace } from './mistakes.ts'
export { hasUncheckedRules, parseCase } from './parse.ts'
export { caseIdMeaning, caseSchema, isCaseId } from './schema.ts'
export type * from './types.ts'
export { type CaseChanges, updateCase } from './update.ts'
export { writeCase } from './write.ts'
