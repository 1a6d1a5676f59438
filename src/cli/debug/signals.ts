import { endJobs } from '../../jobs/run.ts'

/** What ends a command from outside, and its exit codes, as shells have them. */
const codes = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const
type Signal = keyof typeof codes
const signals = Object.keys(codes) as readonly Signal[]

/**
 * Does the work until it is done, or until a signal ends it. Then nothing may be left: `close` ends the processes of the agent,
 * forks end, what started them removes their folders, and the work, which has the signal, begins and prints nothing more.
 *
 * @returns the exit code of the work, or of the signal
 */
export async function untilSignal(work: (signal: AbortSignal) => Promise<number>, close: () => void): Promise<number> {
  const ended = Promise.withResolvers<number>()
  const over = new AbortController()
  let heard: number | undefined
  const hear = (signal: Signal): void => {
    // What is printed to a terminal that is gone may end this process first.
    process.exitCode = heard = codes[signal]
    ended.resolve(heard)
    over.abort()
    // Else what waits for the next command keeps this process.
    process.stdin.destroy()
  }
  for (const signal of signals) process.on(signal, hear)
  try {
    const code = await Promise.race([ended.promise, work(over.signal)])
    return heard ?? code
  } finally {
    for (const signal of signals) process.off(signal, hear)
    close()
    // Also forks: whoever left asks for none.
    endJobs()
  }
}
