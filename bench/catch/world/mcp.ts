import type { ApiAnswer, ApiRequest, WireAnswer, WireRequest, World } from './types.ts'

interface Rpc {
  readonly id?: number | string
  readonly method: string
  readonly params?: {
    readonly protocolVersion?: string
    readonly name?: string
    readonly arguments?: Readonly<Record<string, unknown>>
  }
}

/** Streamable HTTP as an MCP server speaks it that answers in JSON and opens no stream. Its tools are `GET /tools`. */
export function answerMcp(
  { method, body }: WireRequest,
  world: World,
  note: (request: ApiRequest) => void,
): Omit<WireAnswer, 'delayMs'> {
  const headers = { 'content-type': 'application/json' }
  if (method !== 'POST') return { status: method === 'DELETE' ? 200 : 405, headers, body: '' }
  const rpc = JSON.parse(body) as Rpc
  if (rpc.id === undefined) return { status: 202, headers, body: '' }
  const result = answerRpc(rpc, world, note)
  return { status: 200, headers, body: JSON.stringify({ jsonrpc: '2.0', id: rpc.id, result }) }
}

function answerRpc({ method, params = {} }: Rpc, world: World, note: (request: ApiRequest) => void): unknown {
  if (method === 'initialize') {
    return {
      protocolVersion: params.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: 'files', version: '1.0.0' },
    }
  }
  if (method === 'tools/list') return { tools: serveTool(world, 'tools', {}).body }
  note({ method: 'TOOL', path: `/${params.name}`, query: {}, body: params.arguments ?? {}, headers: {} })
  const { status = 200, body } = serveTool(world, params.name ?? '', params.arguments ?? {})
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return { content: [{ type: 'text', text }], ...(status >= 400 && { isError: true }) }
}

function serveTool(world: World, name: string, body: Readonly<Record<string, unknown>>): ApiAnswer {
  return world.serve({ method: 'TOOL', path: `/${name}`, query: {}, body, headers: {} })
}
