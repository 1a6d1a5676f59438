import { isMap, isScalar, isSeq, parseDocument } from 'yaml'

export interface HeadValue {
  readonly value?: string
  /** 0-based; 0 when the key is missing. */
  readonly line: number
}

export interface CaseHead {
  readonly id: HeadValue
  readonly agent: HeadValue
  readonly tape: HeadValue
  readonly tags: readonly string[]
}

/** The head of a case as the parser reads it; of what is no case, as much of it as can be made out. */
export function headOfYaml(text: string): CaseHead {
  const nothing = { id: { line: 0 }, agent: { line: 0 }, tape: { line: 0 }, tags: [] }
  if (text.length > mostYaml) return nothing
  try {
    // Keys of one map are compared one with another otherwise.
    const { contents } = parseDocument(text, { schema: 'core', uniqueKeys: false, merge: false, prettyErrors: false })
    const pairs = isMap(contents) ? contents.items : []
    const find = (name: string) => pairs.find(({ key }) => isScalar(key) && key.value === name)
    // `1` is no text, which its own test is red for.
    const word = (node: unknown) =>
      isScalar(node) && node.value !== null
        ? String(typeof node.value === 'string' ? node.value : node.source)
        : undefined
    const valueOf = (name: string): HeadValue => {
      const { key, value } = find(name) ?? {}
      const from = isScalar(key) ? (key.range?.[0] ?? 0) : 0
      const said = word(value)
      return {
        line: text.slice(0, from).split('\n').length - 1,
        ...(said !== undefined && said !== '' && { value: said }),
      }
    }
    const list = find('tags')?.value
    const tags = isSeq(list) ? list.items.flatMap((item) => word(item) ?? []) : []
    return {
      id: valueOf('case'),
      agent: valueOf('agent'),
      tape: valueOf('tape'),
      tags: tags.filter((tag) => /^[\w./-]+$/.test(tag)),
    }
  } catch (error) {
    // Deeper than the stack: its own test is red for that.
    if (error instanceof RangeError) return nothing
    throw error
  }
}

// No case is longer.
const mostYaml = 256 * 1024
