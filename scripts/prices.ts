// Makes src/providers/price-table.ts from the prices of @pydantic/genai-prices. With --check it only compares.
import { readFileSync, writeFileSync } from 'node:fs'
import { calcPrice } from '@pydantic/genai-prices'

/** The day the package was published: prices that begin later are not in force yet. */
const asOf = '2026-09-23'
const file = 'src/providers/price-table.ts'

/**
 * Models in use, as an agent names them. Dated versions (`gpt-5-2025-08-07`) find the row of their family; one that
 * costs something else has a row of its own. Not here is what several providers sell at different prices under one
 * name.
 */
const models = {
  openai: words(`
    codex-mini-latest gpt-3.5-turbo gpt-4 gpt-4-turbo gpt-4.1 gpt-4.1-mini gpt-4.1-nano gpt-4o gpt-4o-2024-05-13
    gpt-4o-mini gpt-5 gpt-5-chat-latest gpt-5-codex gpt-5-mini gpt-5-nano gpt-5-pro gpt-5.1 gpt-5.1-codex
    gpt-5.1-codex-mini gpt-5.2 gpt-5.2-codex gpt-5.2-pro gpt-5.3-chat-latest gpt-5.3-codex gpt-5.4 gpt-5.4-mini
    gpt-5.4-nano gpt-5.4-pro gpt-5.5 gpt-5.5-chat-latest gpt-5.5-codex gpt-5.5-pro gpt-5.6 gpt-5.6-luna gpt-5.6-sol
    gpt-5.6-terra gpt-6-astra gpt-6-luna gpt-6-sol gpt-chat-latest o1 o1-mini o1-pro o3 o3-deep-research o3-mini
    o3-pro o4-mini o4-mini-deep-research text-embedding-3-large text-embedding-3-small text-embedding-ada-002`),
  anthropic: words(`
    claude-3-5-haiku claude-3-5-sonnet claude-3-7-sonnet claude-3-haiku claude-3-opus claude-fable-5
    claude-fable-5-1 claude-haiku-4-5 claude-opus-4 claude-opus-4-1 claude-opus-4-5 claude-opus-4-6 claude-opus-4-7
    claude-opus-4-8 claude-opus-5 claude-opus-5-5 claude-sonnet-4 claude-sonnet-4-5 claude-sonnet-4-6
    claude-sonnet-5`),
  google: words(`
    gemini-2.0-flash gemini-2.0-flash-lite gemini-2.5-flash gemini-2.5-flash-lite gemini-2.5-pro
    gemini-3-flash-preview gemini-3-pro-preview gemini-3.1-flash-lite gemini-3.1-pro-preview gemini-3.5-flash
    gemini-3.5-flash-lite gemini-3.6-flash gemini-3.7-flash gemini-3.8-flash gemini-embedding-001`),
  aws: words(`
    amazon.nova-lite amazon.nova-micro amazon.nova-premier amazon.nova-pro amazon.titan-embed-text
    anthropic.claude-haiku-4-5-20251001 anthropic.claude-opus-4-5 anthropic.claude-opus-4-6
    anthropic.claude-sonnet-4-20250514 anthropic.claude-sonnet-4-5-20250929 anthropic.claude-sonnet-4-6
    anthropic.claude-sonnet-5 global.anthropic.claude-haiku-4-5-20251001 global.anthropic.claude-opus-4-5
    global.anthropic.claude-opus-4-6 global.anthropic.claude-sonnet-4-20250514
    global.anthropic.claude-sonnet-4-5-20250929 global.anthropic.claude-sonnet-4-6 global.anthropic.claude-sonnet-5
    meta.llama3-3-70b-instruct meta.llama4-maverick-17b-instruct meta.llama4-scout-17b-instruct`),
  mistral: words(`
    codestral-2508 codestral-latest magistral-medium-latest magistral-small-latest ministral-8b-latest mistral-embed
    mistral-large-2411 mistral-large-2512 mistral-large-latest mistral-medium-2508 mistral-medium-latest
    mistral-small-2603 mistral-small-latest`),
  cohere: words('command-a-03-2025 command-r-08-2024 command-r-plus-08-2024 command-r7b-12-2024 embed-v4.0'),
  groq: words('llama-3.1-8b-instant llama-3.3-70b-versatile'),
  'x-ai': words('grok-3 grok-3-mini grok-4 grok-4-fast grok-4-1-fast grok-4.3 grok-4.5 grok-4.6 grok-code-fast-1'),
  deepseek: words('deepseek-chat deepseek-reasoner deepseek-v4-flash deepseek-v4-pro'),
}

/** The text of the table: of tiers the first, of prices by time of day the one at noon. */
export function priceTable(): string {
  const rows = Object.entries(models).flatMap(([provider, names]) => [
    `  // ${provider}`,
    ...names.map((name) => `  ${keyOf(name)}: ${priceOf(provider, name)},`),
  ])
  return `// Made by scripts/prices.ts from @pydantic/genai-prices ${version()} (MIT), prices in force at noon UTC of ${asOf}. Do not edit.
import type { PriceTable } from './prices.ts'

/** List prices of providers in US dollars per million tokens; to be replaced by whoever pays others. Of tiers, the first. */
export const listPrices: PriceTable = {
${rows.join('\n')}
}
`
}

/** The row of a model, named as its versions are called: without date. */
function keyOf(name: string): string {
  const family = /^gpt-4o-2024-05-13$/.test(name) ? name : name.replace(/-20\d{6}$/, '')
  return /^[a-z]\w*$/.test(family) ? family : `'${family}'`
}

function priceOf(providerId: string, name: string): string {
  const found = calcPrice({}, name, { providerId, timestamp: new Date(`${asOf}T12:00:00Z`) })
  if (found === null) throw new Error(`${providerId} has no price for ${name}`)
  const {
    input_mtok: input,
    output_mtok: output = 0,
    cache_read_mtok: cached,
    cache_write_mtok: written,
  } = found.model_price
  const parts = [`input: ${dollars(input, name)}`, `output: ${dollars(output, name)}`]
  if (cached !== undefined) parts.push(`cachedInput: ${dollars(cached, name)}`)
  if (written !== undefined) parts.push(`cacheWrite: ${dollars(written, name)}`)
  return `{ ${parts.join(', ')} }`
}

/** A price, or the first of its tiers. */
function dollars(price: number | { readonly base: number } | undefined, name: string): number {
  const base = typeof price === 'object' ? price.base : price
  if (base === undefined) throw new Error(`${name} has no price per token`)
  return base
}

function version(): string {
  const manifest = readFileSync('node_modules/@pydantic/genai-prices/package.json', 'utf8')
  return (JSON.parse(manifest) as { readonly version: string }).version
}

function words(text: string): readonly string[] {
  return text.trim().split(/\s+/)
}

if (import.meta.main) {
  const isSame = readFileSync(file, 'utf8') === priceTable()
  if (process.argv.includes('--check')) {
    if (!isSame) throw new Error(`${file} is not what its prices make: node scripts/prices.ts`)
  } else if (!isSame) writeFileSync(file, priceTable())
}
