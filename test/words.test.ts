import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { parseAst } from 'vitest/node'
import { describe, expect, it } from 'vitest'

/*
 * The words of the project. Messages, pages and comments use the terms of the field; what stands here on the left is what they
 * replaced.
 */

/** Words that no message, no page and no comment uses. */
const old =
  /\b(?:nobody|somebody|anew|is none|are none|told|mend(?:s|ed|ing)?|whatever|comes? of it|came to|is for nobody|drawn again|redrawn|rehears\w*|governor|mishap|donor|doors?|ladders?|rungs?|receipts?)\b/i

/** Parts of identifiers that other words replaced. */
const oldNames = /mishap|gauge|keeper|happening|(?<!at)brought|\brung|rungs?\b|ladder|governor|redrawn|rehears|donor/i

const code = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard', 'src'], {
  encoding: 'utf8',
})
  .split('\0')
  .filter((file) => /\.tsx?$/.test(file) && exists(file))
const sources = code.filter((file) => file.endsWith('.ts'))

const pages = execFileSync('git', ['ls-files', '-z', 'README.md', 'SECURITY.md', 'CONTRIBUTING.md', 'docs'], {
  encoding: 'utf8',
})
  .split('\0')
  .filter((file) => file.endsWith('.md') && exists(file))

interface Message {
  readonly at: string
  readonly key: string
  readonly text: string
}

const messages = sources.flatMap((file) => messagesOf(file))

describe('messages', () => {
  it('are found: what, why, fix and the texts of options', () => {
    const counts = Map.groupBy(messages, ({ key }) => key)
    for (const key of ['what', 'why', 'fix', 'about']) expect(counts.get(key)?.length, key).toBeGreaterThan(100)
  })

  it('use no word that another one replaced', () => {
    expect(messages.filter(({ text }) => old.test(text)).map(({ at, text }) => `${at} ${text}`)).toEqual([])
  })

  it('say what happened in at most 16 words, without a full stop', () => {
    const long = messages.filter(({ key, text }) => key === 'what' && (wordsIn(text) > 16 || text.endsWith('.')))
    expect(long.map(({ at, text }) => `${at} ${text}`)).toEqual([])
  })

  it('say why in sentences of at most 25 words', () => {
    const long = messages.filter(
      ({ key, text }) => key === 'why' && text.split(/(?<=[.!?:])\s/).some((sentence) => wordsIn(sentence) > 25),
    )
    expect(long.map(({ at, text }) => `${at} ${text}`)).toEqual([])
  })
})

describe('pages', () => {
  it.each(pages)('%s uses no word that another one replaced', (file) => {
    const found = proseOf(file).flatMap(([line, text]) => (old.test(text) ? [`${file}:${line} ${text}`] : []))
    expect(found).toEqual([])
  })
})

describe('comments', () => {
  const comments = code.flatMap((file) => commentsOf(file))

  it('are found, and nothing that only looks like one', () => {
    expect(comments.length).toBeGreaterThan(10_000)
    const text = [
      `const a = '// a' // b`,
      `const c = \`/* \${/* d */ 1} */\``,
      String.raw`const e = /\/\/ e/`,
      '/** f */',
    ].join('\n')
    expect(commentsIn(text, 'ts').map(([line, comment]) => `${line} ${comment.trim()}`)).toEqual([
      '1 // b',
      '2 /* d */',
      '4 /** f */',
    ])
  })

  it('use no word that another one replaced', () => {
    const found = comments.filter(({ text }) => old.test(text.replaceAll(/`[^`]*`/g, '`…`')))
    expect(found.map(({ at, text }) => `${at} ${text.trim()}`)).toEqual([])
  })
})

describe('names', () => {
  it('of exported types are unique', () => {
    const named = sources.flatMap((file) =>
      [...read(file).matchAll(/^export (?:declare )?(?:abstract )?(?:interface|type|class|enum) (\w+)/gm)].map(
        ([, name = '']) => [name, file] as const,
      ),
    )
    expect(named.length).toBeGreaterThan(300)
    const twice = [...Map.groupBy(named, ([name]) => name)].filter(([, list]) => list.length > 1)
    expect(twice.map(([name, list]) => `${name}: ${list.map(([, file]) => file).join(', ')}`)).toEqual([])
  })

  it('contain no word that another one replaced', () => {
    const found = sources.flatMap((file) =>
      identifiersOf(file)
        .filter((name) => oldNames.test(name) && name !== 'fromRight')
        .map((name) => `${file} ${name}`),
    )
    expect([...new Set(found)]).toEqual([])
  })
})

/** Texts under `what`, `why`, `fix`, `about` and `description`, each `${…}` as one word. */
function messagesOf(file: string): readonly Message[] {
  const text = read(file)
  const found: Message[] = []
  walk(parse(text), (node) => {
    if (node.type !== 'Property') return
    const key = (node['key'] as { readonly name?: string }).name ?? ''
    if (!['what', 'why', 'fix', 'about', 'description'].includes(key)) return
    const at = `${file}:${text.slice(0, node.start).split('\n').length}`
    for (const one of textsOf(node['value'] as Node)) found.push({ at, key, text: one })
  })
  return found
}

function textsOf(node: Node | null): readonly string[] {
  switch (node?.type) {
    case 'Literal':
      return typeof node['value'] === 'string' ? [node['value']] : []
    case 'TemplateLiteral': {
      const quasis = node['quasis'] as readonly { readonly value: { readonly cooked: string } }[]
      return [quasis.map(({ value }) => value.cooked).join('…')]
    }
    case 'ArrayExpression':
      return (node['elements'] as readonly Node[]).flatMap((one) => textsOf(one))
    case 'SpreadElement':
      return textsOf(node['argument'] as Node)
    case 'ConditionalExpression':
      return [...textsOf(node['consequent'] as Node), ...textsOf(node['alternate'] as Node)]
    case 'LogicalExpression':
      return [...textsOf(node['left'] as Node), ...textsOf(node['right'] as Node)]
    default:
      return []
  }
}

function identifiersOf(file: string): readonly string[] {
  const names: string[] = []
  walk(parse(read(file)), (node) => {
    if (node.type === 'Identifier') names.push(node['name'] as string)
  })
  return names
}

/** The lines of its comments. */
function commentsOf(file: string): readonly { readonly at: string; readonly text: string }[] {
  const lines = commentsIn(read(file), file.endsWith('x') ? 'tsx' : 'ts')
  return lines.map(([line, text]) => ({ at: `${file}:${line}`, text }))
}

/** Comments are what looks like one outside of texts, templates and patterns: the parser leaves them out. */
function commentsIn(text: string, lang: 'ts' | 'tsx'): readonly (readonly [line: number, text: string])[] {
  const bare = text.split('')
  walk(parse(text, lang), (node) => {
    if (!['Literal', 'TemplateElement', 'JSXText'].includes(node.type)) return
    for (let at = node.start; at < node.end; at++) if (bare[at] !== '\n') bare[at] = ' '
  })
  return [...bare.join('').matchAll(/\/\*[\s\S]*?\*\/|\/\/.*/g)].flatMap(({ 0: comment, index }) => {
    const first = text.slice(0, index).split('\n').length
    return comment.split('\n').map((line, i) => [first + i, line] as const)
  })
}

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [key: string]: unknown
}

function parse(text: string, lang: 'ts' | 'tsx' = 'ts'): Node {
  return parseAst(text, { lang }) as unknown as Node
}

function walk(node: Node, visit: (node: Node) => void): void {
  visit(node)
  for (const value of Object.values(node))
    for (const one of Array.isArray(value) ? value : [value])
      if (typeof one === 'object' && one !== null && 'type' in one) walk(one as Node, visit)
}

/** Lines of a page outside of code, with what is quoted as code left out. */
function proseOf(file: string): readonly (readonly [line: number, text: string])[] {
  let isCode = false
  return read(file)
    .split('\n')
    .flatMap((line, index) => {
      if (/^ *```/.test(line)) isCode = !isCode
      return isCode || line.startsWith('```') ? [] : [[index + 1, line.replaceAll(/`[^`]*`/g, '`…`')] as const]
    })
}

function wordsIn(text: string): number {
  return text.split(/\s+/).filter((word) => /[\p{L}\d]/u.test(word)).length
}

function read(file: string): string {
  return readFileSync(file, 'utf8')
}

function exists(file: string): boolean {
  try {
    read(file)
    return true
  } catch {
    return false
  }
}
