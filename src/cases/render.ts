import { Document, isMap, isPair, isScalar, isSeq, type Node, Scalar, visit } from 'yaml'
import type { Json } from '../tape/types.ts'
import { escapePragmas, hasPragma } from './pragma.ts'
import { keyName } from './validate.ts'

/**
 * How every case is written. A text in double quotes keeps its line ends as `\n`: `yaml` would cut it there, and where a
 * blank stands between two line ends it writes the escape of the blank twice, so that a backslash is read.
 */
export const writing = { doubleQuotedMinMultiLineLength: Number.POSITIVE_INFINITY }

/** Columns a written line may have before it is folded. */
const width = 120

/** One key with its value, as lines of a block map with this indentation; ends with a line end. */
export function renderPair(name: string, value: Json, indent: number): string {
  return indented(render({ [name]: value }, isCallList(name) ? 0 : width - indent), indent)
}

/** As {@link renderPair} with every text in double quotes and nothing folded: plain for the eye it is not, but it holds any text. */
export function renderPairInQuotes(name: string, value: Json): string {
  const document = toDocument({ [name]: value })
  visit(document, {
    Scalar: (at, node) => {
      if (typeof node.value === 'string' && at !== 'key') node.type = Scalar.QUOTE_DOUBLE
    },
  })
  return `${finish(document, 0)}\n`
}

/** One item as lines of a block list with this indentation; ends with a line end. */
export function renderItem(value: Json, indent: number): string {
  return indented(render([value], 0), indent)
}

/** A value in one line, to stand after `key: ` or `- `; `undefined` when it does not fit there. */
export function renderInline(value: Json): string | undefined {
  const document = toDocument(value)
  visit(document, {
    Collection: (_, node) => {
      node.flow = true
    },
    Scalar: (_, node) => {
      if (typeof node.value === 'string' && node.value.includes('\n')) node.type = Scalar.QUOTE_DOUBLE
    },
  })
  const text = finish(document, 0, isMap(document.contents))
  return text.includes('\n') || text.length > width ? undefined : text
}

/** Any value as YAML in block style; lists of short words stay in one line. */
function render(value: Json, lineWidth: number): string {
  const document = toDocument(value)
  visit(document, {
    Collection: (_, node, path) => {
      node.flow = node.items.length === 0 || isWordList(node, path.at(-1)) || isStepList(node, path)
    },
  })
  return `${finish(document, lineWidth)}\n`
}

/** Lists that read better in one line: tags, and inside pins and match. */
const wordLists: ReadonlySet<string> = new Set(['tags', 'models', 'args'])

function isWordList(node: Node, parent: unknown): boolean {
  return isSeq(node) && isPair(parent) && wordLists.has(keyName(parent.key) ?? '') && node.items.every(isShortWord)
}

/** Numbers of steps, of one case or of each of several. */
function isStepList(node: Node, path: readonly unknown[]): boolean {
  const isOfSteps = path.some((one) => isPair(one) && keyName(one.key) === 'steps')
  return isOfSteps && isSeq(node) && node.items.every((item) => isScalar(item) && typeof item.value === 'number')
}

function isShortWord(item: unknown): boolean {
  return isScalar(item) && typeof item.value === 'string' && item.value.length <= 40 && !item.value.includes('\n')
}

/** Calls and rules are compared line by line in reviews: one stays one line however long it is. */
function isCallList(name: string): boolean {
  return name === 'baseline' || name === 'rules'
}

function toDocument(value: Json): Document<Node> {
  const document = new Document(value, { schema: 'core', aliasDuplicateObjects: false }) as Document<Node>
  visit(document, {
    Scalar: (_, node) => {
      // An unquoted << would be read as the merge key.
      const needsQuotes = typeof node.value === 'string' && (node.value === '<<' || hasPragma(node.value))
      if (needsQuotes) node.type = Scalar.QUOTE_DOUBLE
    },
  })
  return document
}

function finish(document: Document<Node>, lineWidth: number, flowCollectionPadding = false): string {
  const text = document.toString({ ...writing, lineWidth, minContentWidth: 0, flowCollectionPadding })
  return escapePragmas(text.replace(/\n$/, ''))
}

function indented(text: string, indent: number): string {
  return indent === 0 ? text : text.replace(/^(?=.)/gm, ' '.repeat(indent))
}
