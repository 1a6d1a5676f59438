/** `512 bytes`, `4.2 KB`, `1.5 MB`, of 1,024 bytes and 1,048,576. */
export function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} byte${bytes === 1 ? '' : 's'}`
  const [unit, by] = bytes < 1024 * 1024 ? (['KB', 1024] as const) : (['MB', 1024 * 1024] as const)
  return `${Math.round((bytes / by) * 10) / 10} ${unit}`
}
