import { Composer, type Document, isAlias, isMap, isScalar, isSeq, Lexer, LineCounter, type Node, Parser } from 'yaml'
import { Cursor, type Path } from './cursor.ts'
import { aliasCap, aliasTextCap, depthCap, yamlCap } from './limits.ts'
import { refusal } from './refusal.ts'
import { refuseParts } from './yaml-excess.ts'
import { lineOfFile, type YamlPart } from './yaml-part.ts'
import { tagged } from './yaml-tags.ts'

/**
 * The root of a YAML 1.2 document: `n` and `on` are text, a date is text, numbers are numbers.
 *
 * `!!binary` and Ruby's `!binary` are bytes, strings of old Pythons and Rubies plain text; every other tag is refused.
 * Aliases are followed as far as recorders use them.
 *
 * @throws HarvestError `HARVEST_IMPORT_SYNTAX`, `_TOO_LARGE`, `_TOO_DEEP`, `_TAG`, `_BOMB`
 */
export function readYaml(part: YamlPart): Cursor {
  const { text, file, prefix } = part
  if (text.length > yamlCap)
    throw refusal('HARVEST_IMPORT_TOO_LARGE', { file, line: part.line }, `one document has ${text.length} characters`)
  const { document, lines } = compose(part)
  return new Cursor(new Values(part, lines).of(document.contents as Node | null, 0), {
    file,
    lineOf: (path) => lineOf(document, path, part, lines),
    ...(prefix === undefined ? {} : { prefix, isListed: true }),
  })
}

interface Composed {
  readonly document: Document
  readonly lines: LineCounter
}

function compose(part: YamlPart): Composed {
  const { text, file } = part
  const lines = new LineCounter()
  const place = (offset: number): { file: string; line: number } => ({
    file,
    line: lineOfFile(part, lineIn(lines, offset)),
  })
  const composer = new Composer({ uniqueKeys: false, intAsBigInt: true, logLevel: 'silent', lineCounter: lines })
  const parser = new Parser(lines.addNewLine)
  const documents: Document[] = []
  const add = (composed: Iterable<unknown>): void => {
    for (const document of composed) documents.push(document as Document)
  }
  lines.addNewLine(0)
  refuseParts(part)
  // What is too deep is noticed on the way: nothing has been built of it then.
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) add(composer.next(token))
    if (documents.length > 1) break
    if (parser.stack.length > depthCap)
      throw refusal('HARVEST_IMPORT_TOO_DEEP', place(parser.offset), `nested deeper than ${depthCap} levels`)
  }
  for (const token of parser.end()) add(composer.next(token))
  add(composer.end(false, text.length))
  const [document, another] = documents
  if (document === undefined) throw refusal('HARVEST_IMPORT_SYNTAX', place(0), 'there is nothing in it')
  const [error] = documents.flatMap(({ errors }) => errors)
  if (error !== undefined) throw refusal('HARVEST_IMPORT_SYNTAX', place(error.pos[0]), error.message, { cause: error })
  if (another !== undefined)
    throw refusal('HARVEST_IMPORT_SHAPE', place(another.range?.[0] ?? 0), 'the file holds several YAML documents')
  return { document, lines }
}

function lineOf(document: Document, path: Path, part: YamlPart, lines: LineCounter): number | undefined {
  // What is missing stands where the nearest thing that is there does.
  for (let length = path.length; length > 0; length--) {
    const node = document.getIn(path.slice(0, length), true) as Node | undefined
    const offset = node?.range?.[0]
    if (offset !== undefined) return lineOfFile(part, lineIn(lines, offset))
  }
  return part.line
}

/** 0-based. */
function lineIn(lines: LineCounter, offset: number): number {
  return Math.max(0, lines.linePos(offset).line - 1)
}

/** Values of nodes. Anchors are remembered in the order of the text: an alias means the last one before it. */
class Values {
  readonly #part: YamlPart
  readonly #lines: LineCounter
  readonly #anchors = new Map<string, Node>()
  #aliased = 0
  #aliasedText = 0
  #inAlias = 0

  constructor(part: YamlPart, lines: LineCounter) {
    this.#part = part
    this.#lines = lines
  }

  of(node: Node | null, depth: number): unknown {
    if (node === null) return null
    if (depth > depthCap)
      throw refusal('HARVEST_IMPORT_TOO_DEEP', this.#place(node), `nested deeper than ${depthCap} levels`)
    if (this.#inAlias > 0 && ++this.#aliased > aliasCap)
      throw refusal('HARVEST_IMPORT_BOMB', this.#place(node), `aliases stand for more than ${aliasCap} values`)
    if (isAlias(node)) return this.#alias(node.source, node, depth)
    const { anchor } = node as { anchor?: string }
    if (anchor !== undefined && this.#inAlias === 0) this.#anchors.set(anchor, node)
    const value = tagged(node, this.#plain(node, depth), () => this.#place(node))
    if (this.#inAlias > 0) this.#countText(value, node)
    return value
  }

  #countText(value: unknown, node: Node): void {
    if (typeof value !== 'string' && !(value instanceof Uint8Array)) return
    this.#aliasedText += value.length
    if (this.#aliasedText > aliasTextCap)
      throw refusal('HARVEST_IMPORT_BOMB', this.#place(node), `aliases stand for more than ${aliasTextCap} characters`)
  }

  #alias(name: string, node: Node, depth: number): unknown {
    const target = this.#anchors.get(name)
    if (target === undefined)
      throw refusal('HARVEST_IMPORT_SYNTAX', this.#place(node), `the alias ${name} names nothing before it`)
    this.#inAlias++
    try {
      return this.of(target, depth + 1)
    } finally {
      this.#inAlias--
    }
  }

  #plain(node: Node, depth: number): unknown {
    if (isScalar(node)) return scalar(node)
    if (isSeq(node)) return node.items.map((item) => this.of(item as Node | null, depth + 1))
    if (!isMap(node)) return null
    // Without a prototype a key called `__proto__` is a key.
    const map = Object.create(null) as Record<string, unknown>
    for (const { key, value } of node.items)
      map[this.#key(key as Node | null, depth)] = this.of(value as Node | null, depth + 1)
    return map
  }

  #key(node: Node | null, depth: number): string {
    const key = this.of(node, depth + 1)
    if (typeof key === 'string') return key
    if (key instanceof Uint8Array) return Buffer.from(key).toString('utf8')
    if (typeof key !== 'object' || key === null) return String(key)
    throw refusal('HARVEST_IMPORT_SHAPE', this.#place(node!), 'a list or map stands where a name should')
  }

  #place(node: Node): { file: string; line: number } {
    return { file: this.#part.file, line: lineOfFile(this.#part, lineIn(this.#lines, node.range?.[0] ?? 0)) }
  }
}

function scalar({ value }: { readonly value: unknown }): unknown {
  if (typeof value === 'string') return ownText(value)
  if (typeof value !== 'bigint') return value
  // A number JavaScript cannot hold stays whole: it goes back into JSON as it was written.
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}

/**
 * A text by itself. What the parser gives is a view of the whole text it was cut from, which stays in memory as long as
 * one header of it does. Long texts are bodies, which become bytes.
 */
function ownText(text: string): string {
  return text.length > 12 && text.length < 1000 ? (JSON.parse(JSON.stringify(text)) as string) : text
}
