/** A part of a file that is YAML by itself. */
export interface YamlPart {
  readonly text: string
  readonly file: string
  /** 1-based line the part begins at. */
  readonly line: number
  /** Of a list of one item that was cut out of a longer one: the place of that item, `interactions[2]`. */
  readonly prefix?: string
  /** Lines of the file that were left out of the text behind its 1-based line `after`. */
  readonly gap?: { readonly after: number; readonly lines: number }
}

/** The line of the file, of a 0-based one of the text. */
export function lineOfFile({ line, gap }: YamlPart, index: number): number {
  return line + index + (gap !== undefined && index >= gap.after ? gap.lines : 0)
}
