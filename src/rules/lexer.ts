import type { RuleProblem } from './types.ts'

export type RuleTokenKind = 'duration' | 'number' | 'text' | 'pattern' | 'variable' | 'name' | 'word' | 'sign' | 'end'

export interface RuleToken {
  readonly kind: RuleTokenKind
  readonly text: string
  /** Index in the rule, from 0. */
  readonly at: number
}

/** Words of the language. A tool of such a name is written in quotes: `"next"(…)`. */
export const words: readonly string[] = [
  ...['never', 'always', 'once', 'historically', 'previously', 'next', 'eventually', 'not', 'and', 'or', 'implies'],
  ...['since', 'until', 'at', 'most', 'least', 'exactly', 'preceded', 'followed', 'by', 'before', 'after', 'between'],
  ...['within', 'where', 'in', 'returns', 'fails', 'ok', 'answered', 'called', 'with', 'call', 'model', 'says', 'asks'],
  ...['message', 'from', 'to', 'mark', 'step', 'steps', 'elapsed', 'took', 'tokens', 'cost', 'agent', 'run', 'ends'],
  ...['true', 'false', 'null'],
]
const known: ReadonlySet<string> = new Set(words)

/** A name as it is written without quotes: parts of letters, digits and `_`, joined by `.` or `-`; `*` in tool names. */
export const plainName = /^[A-Za-z_](?:[\w*]|[.-](?=[\w*]))*$/

const lexeme = new RegExp(
  [
    String.raw`(?<space>\s+)`,
    String.raw`(?<duration>\d+(?:\.\d+)?(?:ms|s|m|h)(?!\w))`,
    String.raw`(?<number>-?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?!\w))`,
    String.raw`(?<text>"(?:[^"\\]|\\.)*")`,
    String.raw`(?<pattern>/(?:[^/\\\n]|\\.)+/[a-z]*)`,
    String.raw`(?<variable>\$[A-Za-z_]\w*)`,
    String.raw`(?<name>[A-Za-z_](?:[\w*]|[.-](?=[\w*]))*)`,
    String.raw`(?<sign>\.\.|!=|<=|>=|[()=<>~,@[\]:*.])`,
  ].join('|'),
  'sy',
)

/** Takes a rule apart into words; ends with a token `end`. */
export function lex(text: string): readonly RuleToken[] | RuleProblem {
  const tokens: RuleToken[] = []
  for (let at = 0; at < text.length; ) {
    lexeme.lastIndex = at
    const match = lexeme.exec(text)
    if (match === null) return unreadable(text, at)
    const [[kind, found]] = Object.entries(match.groups ?? {}).filter(([, group]) => group !== undefined) as [
      [RuleTokenKind | 'space', string],
    ]
    if (kind !== 'space') tokens.push({ kind: kind === 'name' && known.has(found) ? 'word' : kind, text: found, at })
    at += found.length
  }
  return [...tokens, { kind: 'end', text: 'the end', at: text.length }]
}

function unreadable(text: string, column: number): RuleProblem {
  const sign = text[column] ?? ''
  const problem = { text, column }
  if (sign === '"') {
    const hint = 'YAML without quotes ends a text at " #": write rules in a block, `rules: |`'
    return { ...problem, expected: 'a closing "', got: 'the end', ...(text.includes('#') ? {} : { hint }) }
  }
  if (sign === '/') return { ...problem, expected: 'a closing /', got: 'the end' }
  if (sign === '$') return { ...problem, expected: 'a name after $', got: `'${text[column + 1] ?? 'the end'}'` }
  if (sign === "'") return { ...problem, expected: 'text in "…"', got: "'" }
  return {
    ...problem,
    expected: 'a call, a word or a value',
    got: `'${String.fromCodePoint(text.codePointAt(column)!)}'`,
  }
}
