import { Writable } from 'node:stream'
import { neutralLines } from './neutral-lines.ts'

// A setup file runs again for every test file, and in a vm pool in globals of its own.
const original = Symbol.for('vitest-harvest/write')

/**
 * Hands what an agent writes to the standard streams of its worker to Vitest's console, which reports it as that of the
 * test. By itself it would go to the terminal as it is, between the lines of a report for machines too.
 *
 * Where the console is not Vitest's (`disableConsoleIntercept`), it is written where it was to go, neutral.
 */
export function captureOutput(): void {
  for (const name of ['stdout', 'stderr'] as const) {
    const stream: NodeJS.WriteStream & { [original]?: NodeJS.WriteStream['write'] } = process[name]
    const write = (stream[original] ??= stream.write)
    stream.write = (chunk: unknown, ...more: unknown[]): boolean => {
      const text = typeof chunk === 'string' ? chunk : Buffer.from(chunk as Uint8Array).toString()
      const console: unknown = Reflect.get(globalThis.console, `_${name}`)
      if (console instanceof Writable && console !== stream) console.write(text)
      else Reflect.apply(write, stream, [neutralLines(text)])
      const done = more.find((one) => typeof one === 'function')
      if (done !== undefined) process.nextTick(done)
      return true
    }
  }
}
