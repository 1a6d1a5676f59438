import { spawn, spawnSync } from 'node:child_process'
import { unattended } from '../../src/provenance/unattended.ts'
import { built } from '../support/built.ts'

/** Whether a command can be run at a terminal here: by `script` of util-linux. */
export const hasTerminal = spawnSync('script', ['--version']).status === 0

/** Runs the built `harvest` command at a terminal, as if nobody but a person were there, and types `answer` when it asks. */
export async function onTerminal(
  args: readonly string[],
  {
    cwd,
    answer,
    prompt = '[y/N]',
    env = {},
  }: {
    readonly cwd: string
    readonly answer?: string
    readonly prompt?: string
    readonly env?: Readonly<Record<string, string>>
  },
): Promise<{ readonly code: number | null; readonly output: string }> {
  const command = [process.execPath, built('cli/main.js'), ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`)
  const own = Object.entries(process.env).filter(
    ([name, value]) =>
      !/^(VITEST|NODE_OPTIONS|NODE_V8|FORCE_COLOR)/.test(name) && unattended({ [name]: value }) === undefined,
  )
  const child = spawn('script', ['-qec', command.join(' '), '/dev/null'], {
    cwd,
    env: { ...Object.fromEntries(own), TERM: 'xterm', NO_COLOR: '1', ...env },
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
    if (answer !== undefined && text.includes(prompt)) child.stdin.write(`${answer}\n`)
  })
  const code = await new Promise<number | null>((ended, failed) => child.once('error', failed).once('close', ended))
  return { code, output }
}
