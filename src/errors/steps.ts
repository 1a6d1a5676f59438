/** The option that gives a run more time than a limit that it reached: twice as much, ten minutes at least. */
export function moreThan(limitMs: number): string {
  return `--timeout ${limitMs < 600_000 ? '10m' : `${Math.ceil((2 * limitMs) / 60_000)}m`}`
}

/** A message without its next steps: those of a case that was not written, or of another command, lead nowhere. */
export function withoutSteps(message: string): string {
  return message
    .split('\n')
    .filter((line) => !/^\s*→/.test(line))
    .join('\n')
}
