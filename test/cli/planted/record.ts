import { join } from 'node:path'
import type * as record from '../../../src/record/index.ts'

/** The recorder of the installed package where the commands are of that, else the one of the sources. */
const { HARVEST_TEST_PACKED: packed } = process.env

export const { createRecorder, mark, message, retriever, tool, value } = (await import(
  packed === undefined ? '../../../src/record/index.ts' : join(packed, 'dist/record/index.js')
)) as typeof record
