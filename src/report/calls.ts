/** A baseline as its case file has it: one call per line, independent ones as a list in the list. Not yet neutral. */
export function baselineLines(baseline: readonly (string | readonly string[])[]): readonly string[] {
  return baseline.flatMap((layer) =>
    typeof layer === 'string'
      ? [`- ${scalar(layer)}`]
      : layer.map((call, index) => `${index === 0 ? '- ' : '  '}- ${scalar(call)}`),
  )
}

/** What YAML would read as something else than text stands in quotes. */
function scalar(call: string): string {
  const isPlain = /^[A-Za-z_][^"'#:\n]*$/.test(call) && !/\s$/.test(call)
  return isPlain ? call : `'${call.replaceAll("'", "''")}'`
}
