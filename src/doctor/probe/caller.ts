import { fileURLToPath } from 'node:url'
import { isBuilt } from '../../own-files.ts'
import { type Asking, askingCode } from '../../seam/asking.ts'
import type { Caller } from '../../seam/source.ts'

/** This folder, and the one file it is built into. */
const probes = fileURLToPath(isBuilt ? import.meta.url : new URL('./', import.meta.url))

/** Who called `caller`, a function of a probe; see {@link askingCode}. */
export function callerOf(caller: Caller): Asking | undefined {
  return askingCode(caller, probes)
}
