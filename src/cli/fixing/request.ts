import { resolve } from 'node:path'
import type { FixRequest } from '../../blame/fix-task.ts'
import type { Case } from '../../cases/index.ts'
import { forksFolder } from '../../recordings/index.ts'
import type { CommandInput } from '../command.ts'
import { readWhole, saysToPay } from '../live.ts'
import { readExpectations, readOracle, readReference, readTools } from '../live-grading.ts'
import { badValue } from '../parse.ts'
import { fixSpec } from '../spec/fix.ts'

/** What the process of the agent is asked for. */
export function readFixRequest(
  given: CommandInput,
  kase: Case,
  tapeFile: string,
  recordings: string,
): Omit<FixRequest, 'known'> {
  const oracle = readOracle(given, kase, fixSpec)
  const baseUrl = given.value('model-server')
  if (baseUrl !== undefined && !URL.canParse(baseUrl)) throw badValue(fixSpec, 'model-server', baseUrl, 'a URL')
  return {
    ...readExpectations(given),
    ...readReference(given),
    tools: readTools(given, fixSpec),
    runs: readWhole(given, fixSpec, 'runs') ?? 3,
    isLive: given.has('live'),
    mayPay: saysToPay(given),
    ...(given.value('without') === 'none' ? { isUnshown: true as const } : {}),
    folder: resolve(forksFolder(recordings, tapeFile)),
    isFresh: given.has('no-cache'),
    ...(oracle === undefined ? {} : { oracle }),
    ...(baseUrl === undefined ? {} : { baseUrl }),
  }
}
