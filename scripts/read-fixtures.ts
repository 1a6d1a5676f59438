import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { type Dialect, type ModelResponse, readModelResponse } from '../src/providers/index.ts'

/**
 * Reads the fixtures of the AI SDK's provider packages (`__fixtures__`: one JSON chunk a line in `*.chunks.txt`, whole
 * answers in `*.json`) with the reader of their dialect. Prints per package how many answers were read, what they hold
 * and what the reader did not know. Where a package has both forms of one answer, both must call the same tools or none.
 *
 * Exit code 1 when a reader threw, read nothing, met an unknown event, or got no arguments for a call.
 *
 *     node scripts/read-fixtures.ts ../shared/data/vercel+ai
 */
const [folder = '../shared/data/vercel+ai'] = process.argv.slice(2)

/** No answers of language models. */
const others =
  /\/(skills|reranking|transcription|speech|speech-translation)\/|(transcription|embedding|job-status|queue)[^/]*$/

/** Dialect by the path in the repository; the first that fits. */
const dialects: readonly (readonly [path: RegExp, dialect: Dialect])[] = [
  [/\/(open-)?responses\/|^packages\/azure\//, 'openai-responses'],
  [/\/interactions\//, 'gemini-interactions'],
  [/^packages\/google/, 'gemini'],
  [/^packages\/(anthropic|google-vertex\/src\/anthropic|amazon-bedrock\/src\/anthropic)/, 'anthropic'],
  [/^packages\/amazon-bedrock\//, 'bedrock-converse'],
  [/^packages\/cohere\//, 'cohere'],
  [/\/completion\//, 'openai-completions'],
  [/^packages\//, 'openai-chat'],
]

interface Seen {
  answers: number
  calls: number
  builtIn: number
  reasoning: number
}

const seen = new Map<string, Seen>()
const faults: string[] = []
const forms = new Map<string, string[]>()
let skipped = 0

for (const file of fixtures()) {
  const dialect = others.test(file) ? undefined : dialects.find(([path]) => path.test(file))?.[1]
  if (dialect === undefined) skipped++
  else read(file, dialect)
}
for (const [base, names] of forms) {
  if (new Set(names).size > 1) console.log(`two forms of ${base} call other tools: ${names.join(' | ')}`)
}
for (const [name, { answers, calls, builtIn, reasoning }] of seen) {
  console.log(
    `${name}: ${answers} answers, ${calls} calls, ${builtIn} of them by the provider, ${reasoning} with reasoning`,
  )
}
for (const fault of faults) console.log(fault)
console.log(`${faults.length} faults; ${skipped} files are no answers of language models`)
process.exitCode = faults.length === 0 ? 0 : 1

function fixtures(): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.parentPath.includes('__fixtures__') && /\.(txt|json)$/.test(entry.name))
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort()
}

function read(file: string, dialect: Dialect): void {
  const answers = answersIn(readFileSync(join(folder, file), 'utf8'))
  const calls = answers.flatMap((answer) => note(file, dialect, Buffer.from(answer)))
  const base = file.replace(/(\.chunks\.txt|\.json)$/, '')
  if (answers.length === 1) forms.set(base, [...(forms.get(base) ?? []), calls.join(' ')])
}

/** Some files hold the streams of several answers, one after the other. */
function answersIn(text: string): readonly string[] {
  return text.split(/^(?=\{"type":"(?:message_start|response\.created)")/m).filter((answer) => answer.trim() !== '')
}

/** Notes what an answer holds and what is wrong with it; returns the tools it calls. */
function note(file: string, dialect: Dialect, bytes: Buffer): readonly string[] {
  let response: ModelResponse
  try {
    response = readModelResponse(dialect, { status: 200, bytes })
  } catch (error) {
    faults.push(`THROWN ${file}\n${(error as Error).stack ?? ''}`)
    return []
  }
  const { text, reasoning, toolCalls, refusal, error, usage, unknownEvents } = response
  if (unknownEvents > 0) faults.push(`${unknownEvents} unknown events: ${file}`)
  const isEmpty = text === '' && toolCalls.length === 0
  if (isEmpty && [reasoning, refusal, error, usage].every((part) => part === undefined))
    faults.push(`nothing read: ${file}`)
  for (const { name, args } of toolCalls) {
    if (typeof args === 'string' && /^[[{]/.test(args)) faults.push(`arguments of ${name} are no JSON: ${file}`)
  }
  const name = `${file.split('/')[1]} ${dialect}`
  const sums = seen.get(name) ?? { answers: 0, calls: 0, builtIn: 0, reasoning: 0 }
  seen.set(name, sums)
  sums.answers++
  sums.calls += toolCalls.length
  sums.builtIn += toolCalls.filter(({ builtIn }) => builtIn).length
  sums.reasoning += reasoning === undefined ? 0 : 1
  return toolCalls.map((call) => call.name)
}
