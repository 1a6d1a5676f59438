/** Whether a reason is what stands for one in printed commands: `"…"`, `<text>`. */
export function isPlaceholder(reason: string): boolean {
  return ['…', '<text>'].includes(reason.trim())
}
