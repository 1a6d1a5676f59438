import { setTimeout as sleep } from 'node:timers/promises'
import { auth, extractWWWAuthenticateParams, type OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js'
import { ClientCredentialsProvider, PrivateKeyJwtProvider } from '@modelcontextprotocol/sdk/client/auth-extensions.js'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js'
import type { Suite } from './suite.ts'

/** What an agent is recorded with, and replayed with again. */
export interface Job {
  /** A client scenario of the conformance suite, or an example server. */
  readonly name: string
  readonly url?: string
  /** Program of a server over stdio. */
  readonly command?: readonly string[]
  /** Credentials that the suite gives its client. */
  readonly context?: Readonly<Record<string, string>>
  /** A folder that its tools may read. */
  readonly folder?: string
  /** A server scenario of the suite, whose own client is recorded. */
  readonly scenario?: string
}

/** Does what the job's scenario asks of a client, with the client of the official SDK; a server scenario with that of the suite. */
export async function run(job: Job, suite?: Suite): Promise<unknown> {
  const { name, url, command = [], scenario } = job
  if (scenario !== undefined) return suite!.run(url!, scenario)
  const told: unknown[] = []
  const client = new Client(
    { name: 'harvest', version: '1.0.0' },
    { capabilities: { sampling: {}, roots: {}, elicitation: { form: { applyDefaults: true } } } },
  )
  client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => {
    told.push(params.messages.length)
    return { model: 'm', role: 'assistant', content: { type: 'text', text: 'a poem' } }
  })
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: {} }))
  client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: 'file:///desk' }] }))
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void told.push(params.level))
  const [program = '', ...args] = command
  const transport =
    url === undefined
      ? new StdioClientTransport({ command: program, args, stderr: 'ignore' })
      : new StreamableHTTPClientTransport(new URL(url), authorizing(job))
  await client.connect(transport as Transport)
  const answers = await work(client, job)
  if (name === 'sse-retry') await sleep(1_000)
  await client.close()
  return { answers, told }
}

async function work(client: Client, { folder }: Job): Promise<unknown> {
  const call = (tool: string, args: Record<string, unknown> = {}, onprogress?: (one: object) => void) =>
    client.callTool({ name: tool, arguments: args }, undefined, onprogress ? { onprogress } : {})
  const { tools } = await client.listTools()
  const has = (tool: string): boolean => tools.some((one) => one.name === tool)
  if (has('read_graph')) {
    const ada = { name: 'Ada', entityType: 'person', observations: ['counts'] }
    await call('create_entities', { entities: [ada, { name: 'Tom', entityType: 'person', observations: [] }] })
    await call('create_relations', { relations: [{ from: 'Ada', to: 'Tom', relationType: 'knows' }] })
    return [await call('search_nodes', { query: 'Ada' }), await call('read_graph'), tools.length]
  }
  if (has('list_allowed_directories')) {
    const asked = ['note.txt', 'list.txt', 'missing.txt'].map((file) =>
      call('read_text_file', { path: `${folder}/${file}` }),
    )
    return [await call('list_directory', { path: folder }), await Promise.all(asked), tools.length]
  }
  if (has('get-sum')) {
    const steps: object[] = []
    const listed = await Promise.all([client.listPrompts(), client.listResources(), client.listResourceTemplates()])
    const [first] = listed[1].resources
    return [
      await call('echo', { message: 'hi' }),
      await Promise.all([call('get-sum', { a: 2, b: 3 }), call('get-sum', { a: 20, b: 30 })]),
      await call('trigger-long-running-operation', { duration: 0.3, steps: 3 }, (step) => steps.push(step)),
      await call('get-tiny-image'),
      has('trigger-sampling-request') && (await call('trigger-sampling-request', { prompt: 'a poem', maxTokens: 9 })),
      await client.getPrompt({ name: listed[0].prompts[0]!.name }),
      first && (await client.readResource({ uri: first.uri })),
      steps,
      listed,
    ]
  }
  const results: unknown[] = []
  for (const tool of tools) {
    const { required = [] } = tool.inputSchema
    const known: Readonly<Record<string, unknown>> = { a: 5, b: 3, x: 5, y: 3 }
    results.push(await call(tool.name, Object.fromEntries(required.map((key) => [key, known[key] ?? 'text']))))
  }
  return results
}

const redirect = 'http://localhost:3000/callback'

/** Signs in as the job asks: by its credentials, or by the code that the authorization server sends a browser back with. */
function authorizing({ name, url = '', context = {} }: Job): {
  fetch?: typeof fetch
  authProvider?: OAuthClientProvider
} {
  if (!name.startsWith('auth/')) return {}
  const { client_id: clientId = '', client_secret: clientSecret = '', private_key_pem: privateKey } = context
  if (name.includes('client-credentials'))
    return {
      authProvider: privateKey
        ? new PrivateKeyJwtProvider({ clientId, privateKey, algorithm: context['signing_algorithm'] ?? 'ES256' })
        : new ClientCredentialsProvider({ clientId, clientSecret }),
    }
  if (name.includes('cross-app-access')) return { authProvider: crossApp({ clientId, clientSecret }, url, context) }
  const provider = inMemory(clientId === '' ? undefined : { client_id: clientId, client_secret: clientSecret })
  const signIn = async (answer: Response): Promise<void> => {
    const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(answer)
    const how = {
      serverUrl: url,
      ...(resourceMetadataUrl ? { resourceMetadataUrl } : {}),
      ...(scope === undefined ? {} : { scope }),
    }
    if ((await auth(provider, how)) === 'REDIRECT') await auth(provider, { ...how, authorizationCode: provider.code() })
  }
  const asking = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    for (let tries = 0; ; tries++) {
      const headers = new Headers(init?.headers)
      const tokens = await provider.tokens()
      if (tokens) headers.set('authorization', `Bearer ${tokens.access_token}`)
      const answer = await fetch(input, { ...init, headers })
      if ((answer.status !== 401 && answer.status !== 403) || tries === 2) return answer
      await signIn(answer)
    }
  }
  return { fetch: asking }
}

/** Changes the token that its identity provider gave for one of the server's, and signs in with that. */
function crossApp(
  given: { clientId: string; clientSecret: string },
  url: string,
  context: NonNullable<Job['context']>,
) {
  const prepareTokenRequest = async (): Promise<URLSearchParams> => {
    const urn = 'urn:ietf:params:oauth'
    const about = await fetch(new URL('/.well-known/oauth-protected-resource/mcp', url))
    const { authorization_servers: servers } = (await about.json()) as { authorization_servers: string[] }
    const asked = new URLSearchParams({
      grant_type: `${urn}:grant-type:token-exchange`,
      requested_token_type: `${urn}:token-type:id-jag`,
      audience: servers[0] ?? '',
      resource: url,
      subject_token: context['idp_id_token'] ?? '',
      subject_token_type: `${urn}:token-type:id_token`,
      client_id: context['idp_client_id'] ?? '',
    })
    const answer = await fetch(context['idp_token_endpoint'] ?? '', { method: 'POST', body: asked })
    const { access_token: assertion } = (await answer.json()) as { access_token: string }
    return new URLSearchParams({ grant_type: `${urn}:grant-type:jwt-bearer`, assertion })
  }
  return Object.assign(new ClientCredentialsProvider(given), { prepareTokenRequest })
}

type Known = Awaited<ReturnType<OAuthClientProvider['clientInformation']>>

/** Keeps what it is given, and follows the redirect that a browser would. */
function inMemory(known: Known): OAuthClientProvider & { code(): string } {
  let tokens: Awaited<ReturnType<OAuthClientProvider['tokens']>>
  let [verifier, code] = ['', '']
  return {
    redirectUrl: redirect,
    clientMetadata: { client_name: 'harvest', redirect_uris: [redirect] },
    clientMetadataUrl: 'https://conformance-test.local/client-metadata.json',
    clientInformation: () => known,
    saveClientInformation: (given) => void (known = given),
    tokens: () => tokens,
    saveTokens: (given) => void (tokens = given),
    saveCodeVerifier: (given) => void (verifier = given),
    codeVerifier: () => verifier,
    async redirectToAuthorization(to) {
      const { headers } = await fetch(to, { redirect: 'manual' })
      code = new URL(headers.get('location') ?? redirect).searchParams.get('code') ?? ''
    },
    code: () => code,
  }
}
