import { join } from 'node:path'
import { createRedactor, printKeys } from '../privacy/index.ts'
import { Codes } from '../seam/code-of.ts'
import { copyOutput } from '../seam/output.ts'
import { seamState } from '../seam/source.ts'
import { TailSampler } from './tail-sampler.ts'
import { finish } from './endings.ts'
import { listen, newId } from './recorder.ts'
import { redactorOfRun } from './redactor-of-run.ts'
import { RecordedRun } from './run.ts'
import { warner } from './warn.ts'

export interface ProgramOptions {
  readonly dir: string
  readonly agent: string
  readonly id?: string
  /** The command line that starts the program again. */
  readonly argv?: readonly string[]
  readonly commit?: string
}

/** Makes everything this process does one recorded run, closed when the process ends. */
export function recordProgram(options: ProgramOptions): void {
  const id = options.id ?? newId()
  listen()
  const output = copyOutput()
  const warn = warner(undefined, (text) => createRedactor().text(text))
  const { redactor, ...printed } = redactorOfRun({}, printKeys()[0])
  const run = new RecordedRun({
    account: new TailSampler({}, warn).open(id, options.agent),
    path: join(options.dir, `${id}.tape.jsonl`),
    pins: { node: process.versions.node, ...(options.commit === undefined ? {} : { commit: options.commit }) },
    redactor,
    codes: new Codes((text) => createRedactor().scan(text)),
    bodyCap: 8 * 2 ** 20,
    tapeCap: 256 * 2 ** 20,
    ...printed,
    warn,
    ...(options.argv ? { command: { argv: redactor.json(options.argv) as readonly string[], cwd: '.' } } : {}),
  })
  seamState().processRun = run.root
  // Synchronous on purpose: nothing asynchronous happens any more once a process exits.
  process.on('exit', (code) => {
    seamState().processRun = undefined
    run.close({ status: 'exited', code, stdout: output.stdout(), stderr: output.stderr() })
    finish(run.rest)
  })
}
