import { createInterface } from 'node:readline/promises'

/** Whether somebody sits at a terminal who can be asked. */
export function canAsk(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true
}

/** Asks a question that is answered with yes or no; anything but yes is no, and so is the end of the input. */
export async function askYesNo(question: string): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const ended = new Promise<string>((resolve) => lines.once('close', () => resolve('')))
    return /^y(es)?$/i.test((await Promise.race([lines.question(`${question} [y/N] `), ended])).trim())
  } finally {
    lines.close()
  }
}
