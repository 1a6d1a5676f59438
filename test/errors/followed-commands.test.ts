import { globSync, readFileSync } from 'node:fs'
import { parseAst } from 'vitest/node'
import { expect, it } from 'vitest'
import { every, type Node } from '../support/reached.ts'
import { advice, followed } from './followed-commands.ts'

/** What-ifs, faults, blame, isolate, fix and doctor, with all that they call to report. */
const rooms = [
  'src/{isolate,fork,live,doctor}/**/*.ts',
  'src/blame/!(prove-)*.ts',
  'src/cli/{blame,doctor,forking,fixing}/*.ts',
  'src/cli/commands/{blame,chaos,isolate,doctor,fork,patch,fix}.ts',
  'src/cli/{finer-answer,next-steps,live,live-grading}.ts',
  'src/errors/budget-spent.ts',
  'src/jobs/run.ts',
  'src/provenance/changes.ts',
]

/** What is typed: a command, or options of the one that was typed, or what a call gives of these. */
const command = String.raw`npx |git |echo |npm |--[a-z]|the same command|[A-Z_]+=1 |\$\{(?:typedAgain\(|program\}|option\}|instead\}|command\}|moreTime\}|moreThan\(|twiceTheTime\()`
const typed = new RegExp(String.raw`[:?] (?:${command})|^did you mean `)
const isBare = new RegExp(`^(?:${command})`)

function parsed(file: string): { readonly code: string; readonly nodes: readonly Node[] } {
  const code = readFileSync(file, 'utf8')
  return { code, nodes: every(parseAst(code, { lang: 'ts' }) as unknown as Node) }
}

/** A text as it is written, without its quotes; `undefined` of anything else. */
function textOf(node: Node, code: string): string | undefined {
  const isText = node.type === 'TemplateLiteral' || (node.type === 'Literal' && typeof node['value'] === 'string')
  return isText ? code.slice(node.start + 1, node.end - 1) : undefined
}

/** What a line says before what is typed, as far as it is always the same. */
function aboutOf(text: string): string {
  const line = text.split('\\n').find((one) => typed.test(one)) ?? text
  const [about = ''] = line.replace(/^\s*→ /, '').split(new RegExp(String.raw`\$\{|[:?] (?=${command})`))
  return about.replace(/:? $/, '')
}

const valueOf = (node: Node, name: string): Node | undefined =>
  (node['properties'] as readonly Node[]).find(({ key }) => (key as Node | undefined)?.['name'] === name)?.[
    'value'
  ] as Node

const inFix = (nodes: readonly Node[]): readonly Node[] =>
  nodes.flatMap(({ type, key, value }) =>
    type === 'Property' && (key as Node)['name'] === 'fix' ? every(value as Node) : [],
  )

/** The next steps of a file that are typed. */
function commandsIn(nodes: readonly Node[], code: string): readonly string[] {
  const refusals = new Set(
    nodes.filter(({ callee }) => (callee as Node | undefined)?.['name'] === 'usage').flatMap((one) => every(one)),
  )
  const bare = new Set(inFix(nodes))
  const lines = nodes.flatMap((node) => {
    const text = textOf(node, code)
    if (text === undefined || refusals.has(node)) return []
    if (bare.has(node) && isBare.test(text)) return [text]
    return typed.test(text) ? [aboutOf(text)] : []
  })
  const steps = nodes.flatMap((node) => {
    if (node.type !== 'ObjectExpression' || valueOf(node, 'command') === undefined) return []
    const about = valueOf(node, 'about')
    return about === undefined ? [] : every(about).flatMap((one) => textOf(one, code) ?? [])
  })
  return [...new Set([...lines, ...steps])].filter((about) => about !== '')
}

/** The errors of a file that name nothing to type. */
function withoutCommands(nodes: readonly Node[], code: string): readonly string[] {
  return nodes.flatMap((node) => {
    if (node.type !== 'NewExpression' || (node['callee'] as Node)['name'] !== 'HarvestError') return []
    const [name, facts] = node['arguments'] as readonly Node[]
    const fix = facts?.type === 'ObjectExpression' ? valueOf(facts, 'fix') : undefined
    if (name === undefined || (facts?.type !== 'ObjectExpression' && fix === undefined)) return []
    const parts = fix === undefined ? [] : every(fix)
    const isTyped = parts.some((one) => {
      const text = textOf(one, code) ?? ''
      return typed.test(text) || isBare.test(text) || one.type === 'SpreadElement' || one.type === 'CallExpression'
    })
    return isTyped ? [] : [code.slice(name.start, name.end).replaceAll("'", '')]
  })
}

const sources = globSync(rooms)
  .sort()
  .map((file) => ({ file, ...parsed(file) }))
const printed = Object.fromEntries(
  sources.flatMap(({ file, nodes, code }) => {
    const steps = commandsIn(nodes, code)
    return steps.length === 0 ? [] : [[file, [...steps].sort()]]
  }),
)

/** The texts that a test holds, by the name of the test; with no name, those of the whole file. */
function textsOf(file: string, test: string): readonly string[] {
  const { nodes, code } = parsed(file)
  const [body] = nodes.filter(({ type, arguments: given }) => {
    const [name] = (given ?? []) as readonly Node[]
    return type === 'CallExpression' && name !== undefined && textOf(name, code)?.replaceAll("\\'", "'") === test
  })
  const within = test === '' ? nodes : body === undefined ? [] : every(body)
  const calls = within.some(({ callee }) => (callee as Node | undefined)?.['name'] === 'printed')
  return calls ? within.flatMap((node) => textOf(node, code) ?? []) : []
}

it('there are messages to look at', () => {
  expect(Object.values(printed).flat().length).toBeGreaterThan(100)
})

it('each next step that is printed is listed with who types it, and nothing else is', () => {
  const listed = Object.entries(followed).map(([file, steps]) => [file, Object.keys(steps).sort()])
  expect(Object.fromEntries(listed)).toEqual(printed)
})

it('each error has a next step to type, or is listed as one without', () => {
  const found = sources.flatMap(({ file, nodes, code }) => {
    const codes = [...new Set(withoutCommands(nodes, code))]
    return codes.length === 0 ? [] : [[file, codes]]
  })
  expect(advice).toEqual(Object.fromEntries(found))
})

const steps = Object.entries(followed).flatMap(([file, all]) =>
  Object.entries(all).map(([about, follower]) => ({ file, about, follower })),
)

it.each(
  steps.flatMap(({ file, about, follower }) =>
    'because' in follower ? [] : [[`${file}: ${about}`, about, ...follower]],
  ),
)('%s: the test that types it reads it from the message', (_, about = '', file = '', test = '') => {
  // It asks for the words before the command, or enough of them.
  const asked = textsOf(file, test).filter(
    (text) => text.length >= 6 && (about.startsWith(text) || text.startsWith(about)),
  )
  expect(asked, `${file}: ${test}`).not.toEqual([])
})
