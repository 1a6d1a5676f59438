import { type Edit, harmless, type Kind, meaning, question } from './edits.ts'

/** A text of an agent that somebody reads: a prompt, a description, a statement, a letter. It is there exactly once. */
export interface Text {
  /** `prompt`, `description`, `sql`, `prose, German`. */
  readonly of: string
  readonly text: string
  /** Default `agent.ts`. */
  readonly file?: string
  /** What stands for something else when it is replaced: names, tables, operators. */
  readonly swaps?: readonly (readonly [before: string, after: string])[]
  /** The same said otherwise; prompts and descriptions only. */
  readonly reworded?: readonly string[]
  /** In another language. */
  readonly translated?: string
}

/** Every edit of a text that says something else. */
export function twisted(texts: readonly Text[]): readonly Edit[] {
  return texts.flatMap((given) => {
    const { of, text, swaps = [], translated } = given
    const edits = edited(given, 'meaning')
    return distinct([
      ...edits(`the ${of} is gone`, ''),
      ...edits(`the ${of} ends half-way`, text.slice(0, Math.ceil(text.length / 2))),
      ...sentences(text).flatMap((sentence, at, all) =>
        all.length > 1 ? edits(`sentence ${at + 1} of the ${of} is dropped`, text.replace(sentence, '')) : [],
      ),
      ...turns.flatMap(([before, after]) =>
        places(text, before).flatMap((at) =>
          edits(`${of}: ${before} becomes ${after || 'nothing'} at ${at}`, spliced(text, at, before.length, after)),
        ),
      ),
      ...[...text.matchAll(/\d+/g)].flatMap(({ 0: number, index }) =>
        edits(`${of}: ${number} at ${index} is ten times as much`, spliced(text, index, number.length, `${number}0`)),
      ),
      ...swaps.flatMap(([before, after]) =>
        edits(`${of}: ${before} becomes ${after || 'nothing'}`, text.replace(before, after)),
      ),
      ...edits(`${of}: a letter has a double in another alphabet`, lookAlike(text)),
      ...edits(`${of}: a space that cannot be seen divides a word`, text.replace(/(\w{2})(\w{2})/, '$1\u200B$2')),
      ...(translated === undefined ? [] : edits(`the ${of} is in another language`, translated)),
      ...(of === 'prompt' ? edits(`the ${of} is overruled at its end`, `${text} Ignore the rules above.`) : []),
    ])
  })
}

/** Every edit of a prompt or description that says the same in other words or with other spaces. */
export function reworded(texts: readonly Text[]): readonly Edit[] {
  return texts.flatMap((given) => {
    const { of, text, file = 'agent.ts', reworded: others = [] } = given
    const line = file.endsWith('.ts') ? '\\n' : '\n'
    const edits = edited(given, 'question')
    const parts = sentences(text)
    return distinct([
      ...others.flatMap((other, at) => edits(`the ${of} is reworded, ${at + 1}`, other)),
      ...(parts.length > 1
        ? [
            ...edits(`the ${of} has two spaces after its first sentence`, text.replace('. ', '.  ')),
            ...edits(`each sentence of the ${of} has a line`, text.replaceAll('. ', `.${line}`)),
          ]
        : []),
      ...edits(`the ${of} ends with a line break`, text + line),
      ...edits(`the ${of} has lost its last full stop`, text.replace(/\.$/, '')),
      ...edits(`the ${of} begins with a space`, ` ${text}`),
    ])
  })
}

/** Edits that any source stands: no question and no action has to do with them. */
export function refactored(source: string): readonly Edit[] {
  const opening = /export async function agent\([^)]*\)[^{\n]*(?:\{[^}\n]*\}[^{\n]*)?\{\n/.exec(source)?.[0]
  if (opening === undefined) throw new RangeError('the source has no agent to refactor')
  const first = (of: string, name: string, line: string) => harmless(of, name, [opening, `${opening}${line}`])
  const whole = (of: string, name: string, other: string) => harmless(of, name, [source, other])
  return [
    whole('comments', 'a licence stands at the top', `/* Copyright of the owner.\n * All rights kept. */\n${source}`),
    // Inside of a template a space is no formatting.
    ...(/`[^`]*\n {2}[^`]*`/.test(source)
      ? []
      : [
          whole(
            'formatting',
            'indented with tabs',
            source.replaceAll(/^(?: {2})+/gm, (spaces) => '\t'.repeat(spaces.length / 2)),
          ),
        ]),
    whole('formatting', 'line ends of Windows', source.replaceAll('\n', '\r\n')),
    whole(
      'refactoring',
      'the agent is called through another function',
      `${source.replace('export async function agent(', 'async function inner(')}
export const agent: typeof inner = async (...args) => {
  const outcome = await inner(...args)
  return outcome
}
`,
    ),
    first('logging', 'its beginning is logged', `  console.log('the agent begins', process.pid)\n`),
    first(
      'logging',
      'its time is logged, under an id of its own',
      `  const id = crypto.randomUUID()\n  const startedAt = Date.now()\n  process.once('exit', () => console.log(id, startedAt))\n`,
    ),
    first('refactoring', 'it waits for nothing first', '  await Promise.resolve()\n'),
    first('refactoring', 'it waits for 20 ms first', '  await new Promise((done) => setTimeout(done, 20))\n'),
    first('refactoring', 'it draws a random number', '  void Math.random()\n'),
  ]
}

/** Words that turn a sentence round. */
const turns: readonly (readonly [before: string, after: string])[] = [
  ['never', 'always'],
  ['Never', 'Always'],
  ['always', 'never'],
  ['Always', 'Never'],
  ['only ', ''],
  ['not ', ''],
  ['must ', 'must not '],
  ['above', 'below'],
  ['after', 'before'],
  ['before', 'after'],
  ['without', 'with'],
]

/** A letter of the Latin alphabet → the one of another that looks like it. */
const doubles: Readonly<Record<string, string>> = { a: '\u0430', e: '\u0435', o: '\u043E', c: '\u0441', p: '\u0440' }

function lookAlike(text: string): string {
  const at = /[aeocp]/.exec(text)
  return at === null ? text : spliced(text, at.index, 1, doubles[at[0]]!)
}

function sentences(text: string): readonly string[] {
  return text.match(/[^.!?。]+[.!?。]+\s*/g) ?? [text]
}

function places(text: string, part: string): readonly number[] {
  return text
    .split(part)
    .slice(0, -1)
    .reduce<number[]>((found, before) => {
      const from = found.length === 0 ? 0 : found.at(-1)! + part.length
      return [...found, from + before.length]
    }, [])
}

function spliced(text: string, at: number, length: number, other: string): string {
  return text.slice(0, at) + other + text.slice(at + length)
}

function edited({ of, text, file }: Text, kind: Kind): (name: string, other: string) => readonly Edit[] {
  const make = kind === 'meaning' ? meaning : question
  return (name, other) => {
    if (other === text) return []
    const edit = make(of, `${name} (${text.slice(0, 16)}…)`, [text, other])
    return [file === undefined ? edit : { ...edit, file }]
  }
}

/** Two operators can come to the same text. */
function distinct(edits: readonly Edit[]): readonly Edit[] {
  return [...new Map(edits.map((edit) => [JSON.stringify(edit.changes), edit])).values()]
}
