import { createInterface } from 'node:readline/promises'

/** Whether someone sits at a terminal who can be asked. */
export function canAsk(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true
}

/** Asks a question that is answered with yes or no; anything but yes is no, and so is the end of the input. */
export async function askYesNo(question: string): Promise<boolean> {
  return /^y(es)?$/i.test((await askText(`${question} [y/N] `)) ?? '')
}

/** Asks for one line of text, without the blanks around it; `undefined` when the input ends before there is a line. */
export async function askText(question: string): Promise<string | undefined> {
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const ended = new Promise<undefined>((resolve) => lines.once('close', () => resolve(undefined)))
    return (await Promise.race([lines.question(question), ended]))?.trim()
  } finally {
    lines.close()
  }
}
