import { isolateSpec } from '../spec/explain.ts'
import type { Command } from '../command.ts'
import { isolate } from './blame.ts'

/** Another name of `blame --isolate`. */
export const isolateCommand: Command = { ...isolateSpec, run: isolate }
