import { Composer, CST, type Document, Lexer, Parser, type ParsedNode } from 'yaml'
import type { ErrorCode } from '../errors/index.ts'
import type { CaseIssue } from './issues.ts'

/** Collections inside collections. */
const maxDepth = 64
/** Words, marks, spaces and line ends; a baseline takes 6 per call, a map 5 per key. */
const maxLexemes = 30_000

/**
 * Parses YAML that may be hostile: plain data in one document, nothing else.
 *
 * The limits hold while the text is being cut into words, before anything is built from it. Keys of one map are
 * compared by the caller: the check of `yaml` takes 42 s for 20,000 keys.
 *
 * @param mistakes - what is wrong is added here
 * @returns `undefined` when the text cannot be looked at any further
 */
export function parseYaml(text: string, issues: CaseIssue[]): Document.Parsed | undefined {
  const before = issues.length
  const tokens = readTokens(text, issues)
  if (issues.length > before) return undefined
  const composer = new Composer({ schema: 'core', strict: true, uniqueKeys: false, prettyErrors: false, merge: false })
  const documents = [...composer.compose(tokens, true, text.length)]
  const [document, second] = documents
  for (const { errors } of documents) {
    for (const { pos, message } of errors)
      issues.push({
        ...syntax(pos[0], 'YAML', message),
        hint: 'a text that holds a colon, a # or quotes goes in quotes',
      })
  }
  if (second !== undefined) issues.push(syntax(second.range[0], 'one document', 'another one'))
  return issues.length > before ? undefined : (document as Document.Parsed<ParsedNode>)
}

function readTokens(text: string, issues: CaseIssue[]): CST.Token[] {
  const control = /[\u0000-\u0008\u000b\u000c\u000e-\u001f]/.exec(text)
  if (control !== null) {
    const code = control[0].charCodeAt(0).toString(16).padStart(2, '0')
    issues.push({
      ...syntax(control.index, 'text', 'a control character'),
      hint: `in double quotes it is written "\\x${code}"`,
    })
    return []
  }
  const tokens: CST.Token[] = []
  const parser = new Parser()
  let count = 0
  let isScalar = false
  for (const lexeme of new Lexer().lex(text)) {
    const { offset } = parser
    if (!isScalar) {
      refuseMachinery(lexeme, offset, issues)
      if (lexeme.startsWith('"')) refuseEscape(lexeme, offset, issues)
    }
    isScalar = lexeme === CST.SCALAR
    for (const token of parser.next(lexeme)) tokens.push(token)
    if (++count > maxLexemes) {
      issues.push(tooMuch('HARVEST_CASE_TOO_MANY', offset, `at most ${maxLexemes} words and marks`, 'more of them'))
      return tokens
    }
    if (parser.stack.length > maxDepth && parser.stack.filter(CST.isCollection).length > maxDepth) {
      issues.push(
        tooMuch(
          'HARVEST_CASE_TOO_DEEP',
          offset,
          `at most ${maxDepth} lists and maps inside each other`,
          'more of them',
        ),
      )
      return tokens
    }
  }
  for (const token of parser.end()) tokens.push(token)
  return tokens
}

/** Everything in YAML that is not data: aliases (a few of them can stand for gigabytes), tags (types of a program), directives. */
function refuseMachinery(lexeme: string, offset: number, issues: CaseIssue[]): void {
  const at = { offset, path: '' }
  switch (CST.tokenType(lexeme)) {
    case 'alias':
    case 'anchor':
      issues.push({
        ...at,
        code: 'HARVEST_CASE_ALIAS',
        expected: 'plain data',
        found: `the ${lexeme.startsWith('*') ? 'alias' : 'anchor'} ${lexeme.slice(0, 40)}`,
        hint: 'write the value out; a text that begins so goes in quotes',
      })
      return
    case 'tag':
      issues.push({
        ...at,
        code: 'HARVEST_CASE_TAG',
        expected: 'plain data',
        found: `the tag ${lexeme.slice(0, 40)}`,
        hint: 'leave the tag out; a text that begins so goes in quotes',
      })
      return
    case 'directive-line':
      issues.push({
        ...at,
        code: 'HARVEST_CASE_DIRECTIVE',
        expected: 'plain data',
        found: 'a directive',
        hint: 'leave the line out',
      })
      return
    default:
  }
}

/** The first escape in double quotes that is invalid; `yaml` makes an error object for each, 60,000 of them in 3 s. */
function refuseEscape(lexeme: string, offset: number, issues: CaseIssue[]): void {
  for (const { 1: known, index } of lexeme.matchAll(escapes)) {
    if (known !== undefined) continue
    const found = `the escape ${lexeme.slice(index, index + 2)}`
    issues.push({
      ...syntax(offset + index, 'an escape of YAML in double quotes', found),
      hint: 'a backslash is written \\\\',
    })
    return
  }
}

const escapes = /\\(["/\\0abefnrtvNLP_ \t\r\n]|x[\da-fA-F]{2}|u[\da-fA-F]{4}|U00(?:0[\da-fA-F]|10)[\da-fA-F]{4})?/g

function syntax(offset: number, expected: string, found: string): CaseIssue {
  return { code: 'HARVEST_CASE_SYNTAX', offset, path: '', expected, found }
}

function tooMuch(code: ErrorCode, offset: number, expected: string, found: string): CaseIssue {
  return { code, offset, path: '', expected, found, hint: 'long data belongs in the tape' }
}
