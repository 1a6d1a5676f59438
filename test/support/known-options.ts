// Imported first: from here on, what a Vitest config says is read once, as long as its file is the same. To load Vite for it
// is half of what a replay costs.
import childProcess, { type ChildProcess, type SpawnOptions } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { resolve } from 'node:path'

const { spawn } = childProcess
const said = new Map<string, Buffer>()
childProcess.spawn = ((program: string, args: readonly string[], options: SpawnOptions): ChildProcess => {
  const [reader = '', config = '', answer = ''] = args
  if (!/\/vitest\/read-options\.js$/.test(reader)) return spawn(program, args, options)
  const file = resolve(String(options.cwd ?? '.'), config)
  const key = `${file} ${statSync(file).mtimeMs}`
  const known = said.get(key)
  if (known === undefined)
    return spawn(program, args, options).once('exit', () => {
      if (existsSync(answer)) said.set(key, readFileSync(answer))
    })
  writeFileSync(answer, known)
  const ended = Object.assign(new EventEmitter(), { stdout: null, stderr: null, kill: () => true })
  setImmediate(() => ended.emit('close', 0, null))
  return ended as unknown as ChildProcess
}) as typeof spawn
syncBuiltinESMExports()
