// Runs the built command many times in one process: node many.child.ts <main.js> <report>, the command lines on stdin.
import childProcess, { type ChildProcess, type SpawnOptions } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { pathToFileURL } from 'node:url'

// What a config says is read once, as long as the file is the same: to load Vite for it is half of what a replay costs.
const { spawn } = childProcess
const said = new Map<string, Buffer>()
childProcess.spawn = ((program: string, args: readonly string[], options: SpawnOptions): ChildProcess => {
  const [reader = '', config = '', answer = ''] = args
  if (!/\/vitest\/read-options\.js$/.test(reader)) return spawn(program, args, options)
  const key = `${config} ${statSync(config).mtimeMs}`
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

const [main = '', report = ''] = process.argv.slice(2)
const lines = JSON.parse(readFileSync(0, 'utf8')) as readonly (readonly string[])[]
const answers: { stdout: string; stderr: string; code: unknown }[] = []
const { argv } = process
process.stdout.setMaxListeners(0)
for (const [at, line] of lines.entries()) {
  const answer = { stdout: '', stderr: '', code: 0 as unknown }
  const streams = [process.stdout, process.stderr] as const
  const writes = streams.map((stream) => stream.write)
  for (const [i, name] of (['stdout', 'stderr'] as const).entries())
    streams[i]!.write = ((chunk: string | Uint8Array) => (
      (answer[name] += chunk.toString()), true
    )) as typeof process.stdout.write
  process.argv = [...argv.slice(0, 2), ...line]
  process.exitCode = undefined
  // Each query makes the module run once more, as a process of its own would.
  await import(`${pathToFileURL(main).href}?${at}`)
  answer.code = process.exitCode ?? 0
  for (const [i, stream] of streams.entries()) stream.write = writes[i]!
  answers.push(answer)
}
process.exitCode = 0
writeFileSync(report, JSON.stringify(answers))
