const stop = { at: -1 }

/** From now on, the agent stands still when it asks for this step. */
export function stopWhenAsked(step: number): void {
  stop.at = step
}

/** Called while the agent asks for a step: its code is on the stack. The only function of ours a debugger stops in; it is known by its name. */
export function asked(step: number): void {
  // oxlint-disable-next-line no-debugger
  if (step === stop.at) debugger
}
