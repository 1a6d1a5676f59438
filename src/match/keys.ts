import { type Dialect, dialectSpoken } from '../providers/index.ts'
import { signedFor } from '../privacy/index.ts'
import {
  type ExchangeEvent,
  regionFlag,
  regionVariables,
  requestBytes,
  type Tape,
  tenantsFlag,
  tenantVariables,
} from '../tape/index.ts'

const openai = ['OPENAI_API_KEY']
const google = ['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY']
/** What `@google/genai` looks for, either of them; it warns where both are set. */
const genai = ['GEMINI_API_KEY', 'GOOGLE_API_KEY']
const aws = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', ...regionVariables]
const variables: Readonly<Record<Dialect, readonly string[]>> = {
  'openai-chat': openai,
  'openai-responses': openai,
  'openai-completions': openai,
  'openai-embeddings': openai,
  'openai-assistants': openai,
  anthropic: ['ANTHROPIC_API_KEY'],
  gemini: google,
  'gemini-interactions': google,
  'mistral-conversations': ['MISTRAL_API_KEY'],
  'bedrock-converse': aws,
  'bedrock-agent': aws,
  cohere: ['CO_API_KEY', 'COHERE_API_KEY'],
  // Its SDK signs with a key of a file or of the machine.
  oci: [],
  replicate: ['REPLICATE_API_TOKEN'],
  sourcegraph: ['SRC_ACCESS_TOKEN'],
  yandex: ['YC_API_KEY'],
  'ai-gateway': ['AI_GATEWAY_API_KEY'],
  'openai-realtime': openai,
  'gemini-live': google,
  mcp: [],
}

/** Providers that speak someone else's dialect: part of their host → the variable their SDKs read. */
const byHost: readonly (readonly [host: RegExp, variable: string])[] = [
  [/\.openai\.azure\.com$/, 'AZURE_OPENAI_API_KEY'],
  [/groq\.com$/, 'GROQ_API_KEY'],
  [/openrouter\.ai$/, 'OPENROUTER_API_KEY'],
  [/mistral\.ai$/, 'MISTRAL_API_KEY'],
  [/x\.ai$/, 'XAI_API_KEY'],
  [/deepseek\.com$/, 'DEEPSEEK_API_KEY'],
  [/together\.(ai|xyz)$/, 'TOGETHER_API_KEY'],
  [/cerebras\.ai$/, 'CEREBRAS_API_KEY'],
]

/** How every stand-in for a key begins. No provider takes one, and none sees it. */
export const standIn = 'not-a-key-this-is-a-replay'

/**
 * Sets the variables in which the SDKs of a tape's providers look for their key, where they are not set: clients refuse
 * to be made without one, and a test machine has none. When the run was recorded the keys were there, so code that asks
 * whether there is one goes the recorded way. The same goes for the organization and project of OpenAI, and for a
 * region of AWS, unless the tape says that the code named them.
 *
 * @returns takes them back
 */
export function standInKeys(tape: Tape): () => void {
  const lent = [...keysOf(tape), ...tenantsOf(tape)].filter(([name]) => process.env[name] === undefined)
  for (const [name, value] of lent) process.env[name] = value
  return () => {
    for (const [name, value] of lent) if (process.env[name] === value) delete process.env[name]
  }
}

/** The variables in which the SDKs of a tape's providers look for their key: `OPENAI_API_KEY`. */
export function keyNames(tape: Tape): readonly string[] {
  return [...keysOf(tape)].flatMap(([name, value]) => (value.startsWith(standIn) ? [name] : []))
}

/** What to see to when a model could not be asked, before the same is done again. */
export function keysRight(tape: Tape): string {
  const names = keyNames(tape)
  return `once the key${names.length === 0 ? '' : ` (usually ${names.join(', ')})`}, quota and address of the model are right`
}

function keysOf(tape: Tape): ReadonlyMap<string, string> {
  const keys = new Map<string, string>()
  const seen = new Set<string>()
  for (const event of tape.events) {
    if (event.kind !== 'exchange' || event.method !== 'POST' || !URL.canParse(event.url)) continue
    const { host, hostname, pathname } = new URL(event.url)
    // One request of each address says what is spoken there.
    if (seen.has(host + pathname)) continue
    seen.add(host + pathname)
    const { method, url } = event
    const dialect = dialectSpoken({ method, url, body: requestBytes(event).toString('utf8') })
    if (dialect === undefined) continue
    const isGenai = event.request.headers.some(
      ([name, value]) => name === 'user-agent' && value.includes('google-genai-sdk'),
    )
    const names = variables[dialect] === google && isGenai ? oneOfGenai() : variables[dialect]
    const key = standInFor(event)
    const lend = (name: string): void => void (keys.has(name) || keys.set(name, key))
    for (const name of names)
      if (!regionVariables.includes(name)) lend(name)
      else if (!tape.header.flags.includes(regionFlag)) keys.set(name, regionOf(event, hostname))
    for (const [pattern, name] of byHost) if (pattern.test(hostname)) lend(name)
  }
  return keys
}

/** Requests that carried one key when recorded get one stand-in, and those of other keys another: which is which is compared. */
function standInFor({ url, request: { headers } }: ExchangeEvent): string {
  const texts = [url, ...headers.map(([, value]) => value)]
  const numbers = texts.flatMap((text) => [...text.matchAll(/\[key-(\d{1,9})\]/g)].map(([, number]) => number))
  return [standIn, ...new Set(numbers)].join('-')
}

/** One variable of `@google/genai`, or none where one is set. */
function oneOfGenai(): readonly string[] {
  return genai.some((name) => (process.env[name] ?? '') !== '') ? [] : genai.slice(0, 1)
}

function tenantsOf(tape: Tape): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  // What the code named itself, it has to name again.
  if (tape.header.flags.includes(tenantsFlag)) return found
  for (const event of tape.events) {
    if (event.kind !== 'exchange') continue
    for (const [header, variable] of tenantVariables) {
      const value = event.request.headers.find(([name]) => name === header)?.[1]
      if (value !== undefined && !found.has(variable)) found.set(variable, value)
    }
  }
  return found
}

function regionOf({ request }: ExchangeEvent, hostname: string): string {
  const [, credential = ''] = request.headers.find(([name]) => name === 'authorization') ?? []
  const scope = signedFor(credential)
  // A signature for several regions names none: service and terminator.
  if (scope.length === 3 && scope[0] !== undefined) return scope[0]
  return /\.([a-z]{2}(?:-[a-z]+)+-\d)\./.exec(hostname)?.[1] ?? 'us-east-1'
}
