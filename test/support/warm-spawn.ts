// Imported first: from here on, a Vitest that this process starts runs in a Node that ran others before.
import childProcess, { type SpawnOptions } from 'node:child_process'
import { syncBuiltinESMExports } from 'node:module'
import { spawnWarm } from './warm.ts'

const { spawn } = childProcess
childProcess.spawn = ((program: string, args: readonly string[], options: SpawnOptions) =>
  spawnWarm(program, args, options) ?? spawn(program, args, options)) as typeof spawn
syncBuiltinESMExports()
