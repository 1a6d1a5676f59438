/** `step 2`, `steps 2, 4 and 6`. */
export function stepsText(steps: readonly number[]): string {
  const [first, ...others] = steps
  if (others.length === 0) return `step ${first ?? '?'}`
  if (steps.length > 6) return `steps ${steps.slice(0, 5).join(', ')} and ${steps.length - 5} more`
  return `steps ${steps.slice(0, -1).join(', ')} and ${steps.at(-1)}`
}

/** `at step 4 only`. */
export function acceptedAtText(steps: readonly number[]): string {
  return steps.length === 0 ? 'for other recordings only' : `at ${stepsText(steps)} only`
}
