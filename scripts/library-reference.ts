// The reference of docs/library.md: what the doc comments of the root's names say, from the model that api-extractor makes
// of the built types. Written and compared by `scripts/api-report.ts`.
import { readFileSync } from 'node:fs'

/** The parts of api-extractor's model that are read here. */
export interface ApiItem {
  readonly kind: string
  readonly name?: string
  readonly docComment?: string
  readonly excerptTokens?: readonly { readonly kind: string; readonly text: string }[]
  readonly members?: readonly ApiItem[]
  readonly extendsTokenRanges?: readonly TokenRange[]
  readonly parameters?: readonly { readonly parameterName: string; readonly parameterTypeTokenRange: TokenRange }[]
  readonly returnTypeTokenRange?: TokenRange
  readonly propertyTypeTokenRange?: TokenRange
}

interface TokenRange {
  readonly startIndex: number
  readonly endIndex: number
}

/** A doc comment taken apart. */
interface Comment {
  readonly text: string
  readonly tags: readonly { readonly tag: string; readonly text: string }[]
}

/** A section for each function, then one for each type that a function takes or gives. */
export function reference(model: ApiItem): string {
  const items = itemsOf(model)
  const functions = items.filter(isRoot)
  const types = new Map(
    items.flatMap((item) =>
      item.kind === 'Interface' || item.kind === 'Class' ? [[item.name ?? '', item] as const] : [],
    ),
  )
  const queue = ['HarvestError', ...new Set(functions.flatMap((item) => typesOf(item, types)))]
  // Grows while it is walked: what a type extends has members of its own.
  for (const name of queue) {
    const parents = parentsOf(types.get(name)).flatMap((text) => named(text, types))
    queue.push(...parents.filter((parent) => !queue.includes(parent)))
  }
  const shown = new Map([...types].filter(([name]) => queue.includes(name)))
  return [
    ...[...Map.groupBy(functions, ({ name }) => name).values()].flatMap((forms) => functionSection(forms, shown)),
    '## Types',
    '',
    'Of what the functions take and give. All other types are exported too.',
    '',
    ...queue.sort().flatMap((name) => typeSection(types.get(name), shown)),
  ].join('\n')
}

/** The examples, each with the names it may use, to be compiled. */
export function examples(model: ApiItem): readonly string[] {
  return itemsOf(model)
    .filter(isRoot)
    .flatMap((item) => commentOf(item).tags.flatMap(({ tag, text }) => (tag === '@example' ? [text] : [])))
}

function itemsOf(model: ApiItem): readonly ApiItem[] {
  return model.members?.[0]?.members ?? []
}

/** Functions of the root; those under earlier names are left out. */
function isRoot({ kind, name = '' }: ApiItem): boolean {
  return kind === 'Function' && rootNames.includes(name)
}

/** What the root exports to be called. */
export const rootNames: readonly string[] = [
  ...readFileSync('src/index.ts', 'utf8').matchAll(
    /^export \{([^}]*)\} from '\.\/(?:library\/(?!deprecated)\w+|tape\/read|errors\/index)\.ts'/gm,
  ),
]
  .flatMap(([, names = '']) => names.split(',').map((name) => name.trim()))
  .filter((name) => name !== '' && !name.startsWith('type '))

/** One function, in all its forms: the first has the description. */
function functionSection(forms: readonly ApiItem[], types: ReadonlyMap<string, ApiItem>): readonly string[] {
  const [item, ...others] = forms
  if (item === undefined) return []
  const { text, tags } = commentOf(item)
  const parameters = item.parameters ?? []
  const typed = parameters.map(({ parameterName, parameterTypeTokenRange }) => {
    const said = tags.find(({ tag, text: about }) => tag === '@param' && about.startsWith(`${parameterName} `))
    const about = said === undefined ? '' : `: ${said.text.replace(/^\S+\s+-\s+/, '')}`
    return `* \`${parameterName}\`: ${linked(excerpt(item, parameterTypeTokenRange), types)}${about}`
  })
  const of = (tag: string): string | undefined => tags.find((one) => one.tag === tag)?.text
  const result = linked(excerpt(item, item.returnTypeTokenRange), types)
  const returns = of('@returns')
  const throws = of('@throws')
  const example = of('@example')
  const names = parameters.map(({ parameterName }) => parameterName).join(', ')
  return [
    `### ${item.name}(${names})`,
    '',
    text,
    '',
    ...typed,
    `* returns ${result}${returns === undefined ? '' : `: ${returns}`}`,
    ...others.map((other) => {
      const last = other.parameters?.at(-1)
      const given = linked(excerpt(other, last?.parameterTypeTokenRange), types)
      return `* with ${given}, it returns ${linked(excerpt(other, other.returnTypeTokenRange), types)}`
    }),
    ...(throws === undefined ? [] : [`* throws ${throws.replace(/^HarvestError\s+/, '')}`]),
    '',
    ...(example === undefined ? [] : ['```ts no-run', example, '```', '']),
  ]
}

function typeSection(item: ApiItem | undefined, types: ReadonlyMap<string, ApiItem>): readonly string[] {
  if (item === undefined) return []
  const parents = parentsOf(item)
  const rows = (item.members ?? [])
    .filter(({ kind }) => kind !== 'Constructor')
    .map((member) => {
      const { text } = commentOf(member)
      const type = /^Method/.test(member.kind) ? methodText(member) : excerpt(member, member.propertyTypeTokenRange)
      const optional = /\?:/.test(tokens(member).slice(0, 2).join('')) ? '?' : ''
      return `| \`${member.name}${optional}\` | ${cell(linked(type, types))} | ${cell(text)} |`
    })
  return [
    `### ${item.name}`,
    '',
    ...(commentOf(item).text === '' ? [] : [commentOf(item).text, '']),
    ...(parents.length === 0 ? [] : [`All of ${parents.map((text) => linked(text, types)).join(', ')}, and:`, '']),
    ...(rows.length === 0 ? [] : ['| Field | Type | |', '|---|---|---|', ...rows, '']),
  ]
}

function methodText(member: ApiItem): string {
  const names = (member.parameters ?? []).map(
    ({ parameterName, parameterTypeTokenRange }) => `${parameterName}: ${excerpt(member, parameterTypeTokenRange)}`,
  )
  return `(${names.join(', ')}) => ${excerpt(member, member.returnTypeTokenRange)}`
}

function parentsOf(item: ApiItem | undefined): readonly string[] {
  return (item?.extendsTokenRanges ?? []).map((range) => excerpt(item, range))
}

/** Types of the model that a function takes or gives. */
function typesOf(item: ApiItem, types: ReadonlyMap<string, ApiItem>): readonly string[] {
  const ranges = [...(item.parameters ?? []).map((one) => one.parameterTypeTokenRange), item.returnTypeTokenRange]
  return ranges.flatMap((range) => named(excerpt(item, range), types))
}

function named(text: string, types: ReadonlyMap<string, ApiItem>): readonly string[] {
  return [...text.matchAll(/\b[A-Z]\w+\b/g)].map(([name]) => name).filter((name) => types.has(name))
}

/** A type as code, with a link where this page describes the whole of it. */
function linked(type: string, types: ReadonlyMap<string, ApiItem>): string {
  const [only] = named(type, types)
  const code = `\`${type}\``
  return only !== undefined && new RegExp(`^(?:Promise<)?(?:readonly )?${only}(?:<T>)?(?:\\[\\])?>?$`).test(type)
    ? `[${code}](#${only.toLowerCase()})`
    : code
}

function tokens(item: ApiItem): readonly string[] {
  return (item.excerptTokens ?? []).map(({ text }) => text)
}

function excerpt(item: ApiItem | undefined, range: TokenRange | undefined): string {
  if (item === undefined || range === undefined) return ''
  return tokens(item).slice(range.startIndex, range.endIndex).join('').replaceAll(/\s+/g, ' ').trim()
}

function commentOf({ docComment = '' }: ApiItem): Comment {
  const lines = docComment
    .replace(/^\/\*\*/, '')
    .replace(/\*\/\s*$/, '')
    .split('\n')
    .map((line) => line.replace(/^\s*\* ?/, '').trimEnd())
  const [text = '', ...tags] = lines
    .join('\n')
    .trim()
    .split(/^(?=@(?:param|returns|throws|example|see|since)\b)/m)
  return {
    text: prose(text),
    tags: tags.map((part) => {
      const [, tag = '', rest = ''] = /^(@\w+)\s*([\s\S]*)$/.exec(part) ?? []
      return { tag, text: tag === '@example' ? indented(rest.trim()) : prose(rest) }
    }),
  }
}

/** The model halves indentation. */
function indented(text: string): string {
  return text.replaceAll(/^ +/gm, (spaces) => spaces.repeat(2))
}

/** Lines of a paragraph joined; a link to a name as that name. */
function prose(text: string): string {
  return text
    .trim()
    .replaceAll(/\{@link (\S+?)\}/g, '`$1`')
    .split(/\n\s*\n/)
    .map((paragraph) => paragraph.replaceAll(/\s*\n\s*(?!- )/g, ' '))
    .join('\n\n')
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll(/\s*\n\s*/g, ' ')
}
