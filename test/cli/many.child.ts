// Runs the built command many times in one process: node many.child.ts <main.js> <report>, the command lines on stdin.
import { readFileSync, writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import '../support/known-options.ts'

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
