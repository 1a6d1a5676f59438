/** What an option of Vitest was given, each time it stands on the command line. */
export function flagValues(argv: readonly string[], names: readonly string[]): readonly string[] {
  const stop = argv.indexOf('--', 2)
  const words = argv.slice(2, stop === -1 ? undefined : stop)
  return words.flatMap((word, at) => {
    if (names.includes(word)) return words[at + 1] ?? []
    return names.flatMap((name) => (word.startsWith(`${name}=`) ? word.slice(name.length + 1) : []))
  })
}
