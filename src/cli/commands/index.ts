import type { CommandSpec } from '../command.ts'
import { checkCommand } from './check.ts'
import { demoteCommand } from './demote.ts'
import { diffCommand } from './diff.ts'
import { doctorCommand } from './doctor.ts'
import { holdCommand } from './hold.ts'
import { initCommand } from './init.ts'
import { lsCommand } from './ls.ts'
import { patchCommand } from './patch.ts'
import { pinsCommand } from './pins.ts'
import { promoteCommand } from './promote.ts'
import { pruneCommand } from './prune.ts'
import { recordCommand } from './record.ts'
import { replayCommand } from './replay.ts'
import { rerunCommand } from './rerun.ts'
import { rmCommand } from './rm.ts'
import { showCommand } from './show.ts'
import { testCommand } from './test.ts'
import { verifyCommand } from './verify.ts'

/** Every command of `harvest`, in the order people meet them. */
export const commands: readonly CommandSpec[] = [
  initCommand,
  recordCommand,
  lsCommand,
  showCommand,
  diffCommand,
  promoteCommand,
  demoteCommand,
  rmCommand,
  pruneCommand,
  holdCommand,
  testCommand,
  replayCommand,
  verifyCommand,
  rerunCommand,
  patchCommand,
  doctorCommand,
  pinsCommand,
  checkCommand,
]
