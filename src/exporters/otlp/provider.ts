import type { Dialect } from '../../providers/index.ts'

/**
 * The provider's name in the words of the GenAI conventions: by its host, else by whose API it speaks, as the
 * conventions ask for.
 */
export function providerOf(url: string, dialect: Dialect): string {
  const host = /^[a-z+]+:\/\/([^/:?#]+)/i.exec(url)?.[1]?.toLowerCase() ?? ''
  return hosts.find(([pattern]) => pattern.test(host))?.[1] ?? ofDialect[dialect]
}

const hosts: readonly (readonly [RegExp, string])[] = [
  [/\.openai\.azure\.com$/, 'azure.ai.openai'],
  [/\.(inference|services)\.ai\.azure\.com$/, 'azure.ai.inference'],
  [/(^|\.)openai\.com$/, 'openai'],
  [/(^|\.)anthropic\.com$/, 'anthropic'],
  [/^bedrock-runtime[.-].*amazonaws\.com/, 'aws.bedrock'],
  [/^generativelanguage\.googleapis\.com$/, 'gcp.gemini'],
  [/aiplatform\.googleapis\.com$/, 'gcp.vertex_ai'],
  [/(^|\.)cohere\.(com|ai)$/, 'cohere'],
  [/(^|\.)deepseek\.com$/, 'deepseek'],
  [/(^|\.)groq\.com$/, 'groq'],
  [/(^|\.)mistral\.ai$/, 'mistral_ai'],
  [/(^|\.)moonshot\.(ai|cn)$/, 'moonshot_ai'],
  [/(^|\.)perplexity\.ai$/, 'perplexity'],
  [/(^|\.)x\.ai$/, 'x_ai'],
  [/\.ml\.cloud\.ibm\.com$/, 'ibm.watsonx.ai'],
]

const ofDialect: Readonly<Record<Dialect, string>> = {
  'openai-chat': 'openai',
  'openai-responses': 'openai',
  'openai-completions': 'openai',
  'openai-embeddings': 'openai',
  'openai-assistants': 'openai',
  anthropic: 'anthropic',
  gemini: 'gcp.gen_ai',
  'gemini-interactions': 'gcp.gen_ai',
  'mistral-conversations': 'mistral_ai',
  'bedrock-converse': 'aws.bedrock',
  'bedrock-agent': 'aws.bedrock',
  cohere: 'cohere',
  oci: '_OTHER',
  replicate: '_OTHER',
  sourcegraph: '_OTHER',
  yandex: '_OTHER',
  'ai-gateway': 'vercel',
  'openai-realtime': 'openai',
  'gemini-live': 'gcp.gen_ai',
  mcp: '_OTHER',
}
