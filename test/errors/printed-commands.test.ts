import { globSync, readFileSync } from 'node:fs'
import { parseAst } from 'vitest/node'
import { expect, it } from 'vitest'

/** A node of the syntax tree of a file, as far as it is read here. */
interface Node {
  readonly type: string
  readonly start: number
  readonly [key: string]: unknown
}

/** Where a text that is printed begins to be a command. */
const begins =
  /(?:^|[:?`(>|&,] |→ |&& )(?:npx|npm|git (?=-|add|checkout|diff|log|restore|rm)|ls|cat|chmod|cp|df|echo|mkdir|mv|rm) ?/

/** What makes one word of a shell, or more of them, of any text. */
const quoting = ['shellWord', 'tapeWord', 'pathWord', 'dirOption', 'typedAgain', 'commandLine']

const children = (node: Node): readonly Node[] =>
  Object.values(node)
    .flat()
    .filter((one): one is Node => typeof (one as Node | null)?.type === 'string')

function every(node: Node): readonly Node[] {
  return [node, ...children(node).flatMap(every)]
}

/** Whatever stands at it, a shell reads the words that are meant. */
function isQuoted(node: Node, file: readonly Node[]): boolean {
  const part = (key: string): Node => node[key] as Node
  const again = (one: Node): boolean => isQuoted(one, file)
  if (node.type === 'Literal') return true
  if (node.type === 'TemplateLiteral') return (node['expressions'] as readonly Node[]).every(again)
  if (node.type === 'ConditionalExpression') return again(part('consequent')) && again(part('alternate'))
  if (node.type === 'Identifier') {
    if (node['name'] === 'program') return true
    const made = file.filter(({ type, id }) => type === 'VariableDeclarator' && (id as Node)['name'] === node['name'])
    return made.length > 0 && made.every(({ init }) => init !== null && again(init as Node))
  }
  if (node.type !== 'CallExpression') return false
  const called = part('callee')
  if (called.type === 'MemberExpression' && (called['property'] as Node)['name'] === 'join') {
    const [by] = ((called['object'] as Node)['arguments'] ?? []) as readonly Node[]
    if (by?.type === 'ArrowFunctionExpression') return again(by['body'] as Node)
    return by?.type === 'Identifier' && quoting.includes(by['name'] as string)
  }
  if (quoting.includes(called['name'] as string)) return true
  const own = file.find(({ type, id }) => type === 'FunctionDeclaration' && (id as Node)['name'] === called['name'])
  if (own === undefined) return false
  const returned = every(own['body'] as Node).filter(({ type }) => type === 'ReturnStatement')
  return returned.every(({ argument }) => again(argument as Node))
}

/** The words of commands that nothing put into quotes, as they are written. */
function unquotedIn(code: string, lang: 'ts' | 'tsx' = 'tsx'): readonly string[] {
  const file = every(parseAst(code, { lang }) as unknown as Node)
  return file.flatMap((node) => {
    // Text and what stands between it, in turn.
    const parts = partsOf(node)
    let isInside = false
    return parts.flatMap((part) => {
      if (typeof part === 'string') {
        const [line, ...more] = part.split(/\n|\\n|\\`/).toReversed()
        isInside = begins.test(line ?? '') || (isInside && more.length === 0)
        return []
      }
      const isProgram = part['name'] === 'program'
      if (isProgram) isInside = true
      return isInside && !isProgram && !isQuoted(part, file) ? [code.slice(part.start, part['end'] as number)] : []
    })
  })
}

function partsOf(node: Node): readonly (string | Node)[] {
  const nodes = (key: string): readonly Node[] => node[key] as readonly Node[]
  if (node.type === 'TemplateLiteral')
    return nodes('quasis').flatMap(({ value }, at) => [
      (value as { readonly raw: string }).raw,
      ...nodes('expressions').slice(at, at + 1),
    ])
  if (node.type === 'JSXElement')
    return nodes('children').map((child) => {
      if (child.type === 'JSXText') return child['value'] as string
      return child.type === 'JSXExpressionContainer' ? (child['expression'] as Node) : '\n'
    })
  // Texts that are added up: none of them begins a command.
  if (node.type === 'BinaryExpression' && node['operator'] === '+') {
    const [left, right] = [node['left'] as Node, node['right'] as Node]
    return typeof left['value'] === 'string' ? [left['value'], right] : []
  }
  return []
}

/** The words of our own table of commands, and what is put together of quoted words above. */
const ours: Readonly<Record<string, readonly string[]>> = {
  'src/blame/fix-task.ts': ['right'],
  'src/check/inspect.ts': ['allowing'],
  'src/cli/doctor/print.ts': ['report.newest'],
  'src/cli/help.ts': ['name', 'example'],
  'src/cli/parse.ts': ['now', 'spec.name', 'nearest', 'example'],
  'src/cli/next-lines.ts': ['next', 'end'],
  'src/cli/next-steps.ts': ['right', 'words'],
  ...Object.fromEntries(['blame', 'branches', 'compare'].map((page) => [`src/report/page/${page}.tsx`, ['run.word']])),
}

it.each([
  ['`to read it: npx vitest-harvest show ${tape.id}`', ['tape.id']],
  ['`to read it: npx vitest-harvest show ${shellWord(id)} --step ${step}`', ['step']],
  ['`${program} show ${neutralLine(id)}`', ['neutralLine(id)']],
  ['`wrote ${file}\n→ git add ${file}`', ['file']],
  ['`to see it: ls -l ${file}\n${more}`', ['file']],
  ["`rm ${files.join(' ')}`", ["files.join(' ')"]],
  ['const name = plain(id); `${program} show ${name}`', ['name']],
  ["'npx vitest-harvest show ' + id", ['id']],
  ['<code>npx vitest-harvest show {id} --json</code>', ['id']],
  ['`to read it: npx vitest-harvest show ${shellWord(id)}${dirOption(dir)}`', []],
  ["const name = shellWord(id); `${program} show ${isLong ? name : 'latest'}`", []],
  ["`rm ${files.map(shellWord).join(' ')} ${keys.map((key) => `--change ${shellWord(key)}`).join(' ')}`", []],
  ['`git does not ignore ${folder}, ${count} steps`', []],
])('%s: what is not quoted there is %j', (code, unquoted) => {
  expect(unquotedIn(code)).toEqual(unquoted)
})

it('no command is printed with a word that is not put into quotes where it needs them', () => {
  const sources = globSync('src/**/*.{ts,tsx}')
  expect(sources.length).toBeGreaterThan(500)
  const found = sources.flatMap((file) => {
    const code = readFileSync(file, 'utf8')
    // To take all of it apart takes seconds.
    if (!/\$\{program\}|\b(?:npx|npm|git|ls|cat|chmod|cp|df|echo|mkdir|mv|rm) .*\{|npx vitest-harvest '/.test(code))
      return []
    const unquoted = unquotedIn(code, file.endsWith('x') ? 'tsx' : 'ts').filter(
      (text) => ours[file]?.includes(text) !== true,
    )
    return unquoted.map((text) => `${file}: ${text}`)
  })
  expect(found).toEqual([])
})

/** What is typed of a text, line by line, without what stands in quotes: a shell reads `<id>` there as files to open. */
function openPlaceholders(code: string, lang: 'ts' | 'tsx' = 'tsx'): readonly string[] {
  return every(parseAst(code, { lang }) as unknown as Node).flatMap((node) => {
    const parts = typeof node['value'] === 'string' && node.type === 'Literal' ? [node['value']] : partsOf(node)
    const text = parts.map((part) => (typeof part === 'string' ? part : 'x')).join('')
    return text.split(/\n|\\n/).flatMap((line) => {
      const [step] = /(?:[:?] |→ |then |^)(?:npx|git|--[a-z-]+)(?! needs) .*$/.exec(line) ?? []
      return step !== undefined && /<[a-z]/.test(step.replace(/'[^']*'|"[^"]*"/g, '')) ? [line] : []
    })
  })
}

it.each([
  ["'to find it: npx vitest-harvest show <tape> --find <value>'", 1],
  ["'if it is taken: --as <id>'", 1],
  ['`→ a test: ${program} promote ${tapeWord(file)}\\n→ then npx vitest-harvest accept <id>`', 1],
  [`"to find it: npx vitest-harvest show '<tape>' --find '<value>'"`, 0],
  ["'fork needs --step <n>: from which step on'", 0],
])('%s: what stands there for something else is open to a shell %i times', (code, count) => {
  expect(openPlaceholders(code).length).toBe(count)
})

it('no command or option is printed with a placeholder that a shell would take for files', () => {
  const found = globSync('src/**/*.{ts,tsx}').flatMap((file) => {
    const code = readFileSync(file, 'utf8')
    // The table of options says `--step <n>` of each, and a page is HTML.
    if (/^src\/cli\/spec\/|^src\/report\/(?:view|page)\//.test(file) || !/<[a-z|#]+>/.test(code)) return []
    return openPlaceholders(code, file.endsWith('x') ? 'tsx' : 'ts').map((line) => `${file}: ${line}`)
  })
  expect(found).toEqual([])
})
