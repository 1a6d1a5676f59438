import { runInNewContext } from 'node:vm'

/** A pattern of an application's own may take this long for {@link length} characters, in milliseconds of the processor. */
export const patienceMs = 50
const length = 1 << 16
/** What repeats within bounds has to be taken, on a slow machine too: what it takes there is what a slow one is known by. */
const bounded = /\w{1,64}-/g
const aboveBounded = 1.5
/** By the clock, for a pattern that would not end: far more than the processor gets on a busy machine. */
const clockMs = 1_000

/**
 * Which text a pattern takes too long for, in words; `undefined` without one. What counts is the time of the
 * processor, the best of three tries, and on a machine that is slow at that moment what {@link bounded} takes.
 */
export function slowText(pattern: RegExp): string | undefined {
  const key = pattern.toString()
  if (!judged.has(key)) {
    if (judged.size >= judgedCap) judged.clear()
    judged.set(key, judge(pattern))
  }
  return judged.get(key)
}

const judged = new Map<string, string | undefined>()
const judgedCap = 1024

function judge(pattern: RegExp): string | undefined {
  const own = pattern.source.repeat(Math.ceil(length / Math.max(1, pattern.source.length))).slice(0, length)
  if (isSlow(pattern, 'a'.repeat(length))) return 'one letter'
  if (isSlow(pattern, `${'a'.repeat(length)}!`)) return 'one letter and a sign behind it'
  return isSlow(pattern, own) ? 'its own source' : undefined
}

function isSlow(pattern: RegExp, text: string): boolean {
  for (let round = 0; round < 3; round++) {
    const used = usedBy(pattern, text)
    if (used <= patienceMs || used <= aboveBounded * usedBy(bounded, text)) return false
  }
  return true
}

/** In milliseconds of the processor; `Infinity` for what was stopped by the clock. */
function usedBy({ source, flags }: RegExp, text: string): number {
  const pattern = new RegExp(source, flags)
  const begin = process.cpuUsage()
  try {
    runInNewContext('for (const found of text.matchAll(pattern)) found', { text, pattern }, { timeout: clockMs })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
    return Infinity
  }
  const { user, system } = process.cpuUsage(begin)
  return (user + system) / 1_000
}
