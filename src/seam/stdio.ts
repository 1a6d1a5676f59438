/** A JSON-RPC message on a stdio line. */
export interface RpcMessage {
  readonly jsonrpc: '2.0'
  readonly id?: string | number
  readonly method?: string
}

/** The JSON-RPC message on a line, or `undefined` when the line is something else. */
export function messageOf(text: string): RpcMessage | undefined {
  if (!text.startsWith('{')) return undefined
  try {
    const parsed = JSON.parse(text) as Partial<RpcMessage>
    return parsed.jsonrpc === '2.0' ? (parsed as RpcMessage) : undefined
  } catch {
    // Not JSON-RPC: log output of the child, which no agent reads.
    return undefined
  }
}

export function isRequest(message: RpcMessage): boolean {
  return message.method !== undefined && message.id !== undefined
}

export function isResponse(message: RpcMessage): boolean {
  return message.method === undefined && message.id !== undefined
}

/** The address of a child whose command nobody knows: the log of an MCP server does not say how it was started. */
export const unnamedChild = 'stdio:'

/** Names a child by its command; folders are left out so that a tape replays on another machine. */
export function urlOfCommand(command: readonly string[]): string {
  return `stdio:${command.map((part) => encodeURIComponent(part.split(/[\\/]/).at(-1) ?? part)).join(' ')}`
}
