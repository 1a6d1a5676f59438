import type { CommandSpec } from '../command.ts'
import { debugSpec, locateSpec } from './debugger.ts'
import { doctorSpec, forkSpec, patchSpec, replaySpec, verifySpec } from './debug.ts'
import { blameSpec, chaosSpec, isolateSpec, validateSpec } from './explain.ts'
import { fixSpec } from './fix.ts'
import { diffSpec, lsSpec, openSpec, reportSpec, showSpec } from './inspect.ts'
import { demoteSpec, holdSpec, pruneSpec, rmSpec, tapesSpec, tapesSpecs } from './manage.ts'
import { demoSpec, exportSpec, importSpec, initSpec, recordSpec } from './record.ts'
import { acceptSpec, checkSpec, pinsSpec, promoteSpec, rerunSpec, reviewSpec, testSpec } from './test.ts'

/** Every command, in the order of the help. Loads nothing that runs. */
export const specs: readonly CommandSpec[] = [
  demoSpec,
  initSpec,
  recordSpec,
  importSpec,
  exportSpec,
  lsSpec,
  showSpec,
  diffSpec,
  reportSpec,
  openSpec,
  locateSpec,
  promoteSpec,
  fixSpec,
  testSpec,
  acceptSpec,
  checkSpec,
  reviewSpec,
  rerunSpec,
  replaySpec,
  debugSpec,
  patchSpec,
  forkSpec,
  doctorSpec,
  blameSpec,
  isolateSpec,
  chaosSpec,
  validateSpec,
  tapesSpec,
  ...tapesSpecs,
  verifySpec,
  pinsSpec,
  demoteSpec,
  rmSpec,
  pruneSpec,
  holdSpec,
]
