import { parseSync } from 'vite'

/** A node of the syntax tree, as far as it is read here. */
interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [key: string]: unknown
}

/** A function of the code: its name, and the variables it declares. */
interface Around {
  readonly name: string
  readonly names: readonly string[]
  readonly statement?: Node
}

/**
 * The same code, telling before each statement and behind each `await` which one it is and how its variables are: what a debugger
 * should see, found out without one. Lines stay where they are.
 */
export function instrument(file: string, code: string): string {
  const { program } = parseSync(file, code)
  const inserts: { readonly at: number; readonly text: string }[] = []
  const lineAt = (offset: number): number => code.slice(0, offset).split('\n').length
  const seen = ({ name, names }: Around): string => `${JSON.stringify(name)},${JSON.stringify(names)},(s)=>eval(s)`
  const mark = (node: Node, around: Around): string =>
    `__seen(${lineAt(node.start)},${lineAt(node.end)},${seen(around)})`

  const visit = (value: unknown, around: Around | undefined, named = ''): void => {
    if (Array.isArray(value)) return value.forEach((one) => visit(one, around))
    if (!isNode(value)) return
    const isFunction = /Function(?:Expression|Declaration)$/.test(value.type)
    const name = isNode(value['id']) ? String(value['id']['name']) : named
    const inner = isFunction ? { name, names: declared(value) } : around
    if (value.type === 'ArrowFunctionExpression' || isFunction) {
      const own = { name, names: declared(value) }
      const body = value['body']
      visit(value['params'], around)
      if (!isNode(body)) return
      if (body.type === 'BlockStatement') return visit(body, own)
      inserts.push({ at: body.start, text: `(${mark(body, own)},` })
      visit(body, { ...own, statement: body })
      inserts.push({ at: body.end, text: ')' })
      return
    }
    if (around !== undefined && value.type === 'AwaitExpression') {
      const { start, end } = around.statement ?? value
      inserts.push({ at: value.start, text: `__came(${lineAt(start)},${lineAt(end)},${seen(around)},` })
      visit(value['argument'], around)
      inserts.push({ at: value.end, text: ')' })
      return
    }
    for (const [key, child] of Object.entries(value)) {
      const isBody = /^(?:body|consequent|alternate)$/.test(key) && /Statement$|^SwitchCase$/.test(value.type)
      if (!isBody || inner === undefined) {
        visit(child, inner, key === 'init' || key === 'value' ? nameOf(value) : '')
        continue
      }
      for (const statement of Array.isArray(child) ? child : [child])
        if (isNode(statement)) visitStatement(statement, inner, value.type === 'BlockStatement' || Array.isArray(child))
    }
  }
  const visitStatement = (statement: Node, around: Around, isListed: boolean): void => {
    if (statement.type === 'BlockStatement') return visit(statement, around)
    if (statement.type === 'FunctionDeclaration') return visit(statement, around)
    inserts.push({ at: statement.start, text: `${isListed ? ';' : '{'}${mark(statement, around)};` })
    visit(statement, { ...around, statement: headOf(statement) })
    if (!isListed) inserts.push({ at: statement.end, text: '}' })
  }
  visit(program, undefined)

  let [made, from] = ['', 0]
  for (const { at, text } of inserts
    .map((one, index) => ({ ...one, index }))
    .sort((a, b) => a.at - b.at || a.index - b.index)) {
    made += code.slice(from, at) + text
    from = at
  }
  return made + code.slice(from)
}

/** Of a statement with a body, what stands before the body. */
function headOf(statement: Node): Node {
  const body = [statement['body'], statement['consequent']].find(isNode)
  return body === undefined ? statement : { ...statement, end: body.start }
}

function nameOf(value: Node): string {
  const of = value['id'] ?? value['key']
  return isNode(of) ? String(of['name'] ?? '') : ''
}

/** Names that a function declares itself. */
function declared(of: Node): readonly string[] {
  const names = new Set<string>()
  const pattern = (value: unknown): void => {
    if (!isNode(value)) return
    if (value.type === 'Identifier') names.add(String(value['name']))
    for (const key of ['properties', 'elements', 'value', 'left', 'argument'])
      if (!(key === 'value' && value.type !== 'Property')) for (const one of [value[key]].flat()) pattern(one)
  }
  const search = (value: unknown): void => {
    if (Array.isArray(value)) return value.forEach(search)
    if (!isNode(value) || /Function/.test(value.type)) return
    if (value.type === 'VariableDeclarator') pattern(value['id'])
    Object.values(value).forEach(search)
  }
  for (const one of of['params'] as readonly unknown[]) pattern(one)
  search(of['body'])
  return [...names]
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string'
}
