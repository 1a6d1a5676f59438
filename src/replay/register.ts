/**
 * Replays a whole program from a tape: `node --import vitest-harvest/dist/replay/register.js app.js`, with the tape's
 * path in `VITEST_HARVEST_TAPE` and, for a report in JSON, a path in `VITEST_HARVEST_REPORT`.
 *
 * @module
 */
import { writeFileSync } from 'node:fs'
import { HarvestError } from '../errors/index.ts'
import { leaveEnvironment } from '../seam/environment.ts'
import { readTape } from '../tape/index.ts'
import { replayProgram } from './program.ts'
import type { GreenEntries } from './run-verdict.ts'

const {
  VITEST_HARVEST_TAPE: path,
  VITEST_HARVEST_REPORT: report,
  VITEST_HARVEST_OPTIONS: options,
  VITEST_HARVEST_ACCEPTED: accepted,
} = process.env
if (!path) {
  throw new HarvestError('HARVEST_TAPE_MISSING', {
    what: 'No tape to replay from',
    why: 'The environment variable VITEST_HARVEST_TAPE is empty.',
    fix: ["npx vitest-harvest replay '<tape>'"],
  })
}
replayProgram(
  readTape(path),
  options ? (JSON.parse(options) as object) : {},
  (result) => {
    if (report) writeFileSync(report, JSON.stringify(result))
  },
  new Map(accepted ? (JSON.parse(accepted) as GreenEntries) : []),
)
leaveEnvironment('replay/register', [
  'VITEST_HARVEST_TAPE',
  'VITEST_HARVEST_REPORT',
  'VITEST_HARVEST_OPTIONS',
  'VITEST_HARVEST_ACCEPTED',
])
