/** What a client of `debug --mcp` says in a session over one tape. */
export function mcpMessages(file: string): string {
  const calls = [
    ['open_tape', { tape: file }],
    ['inspect', { step: 1 }],
    ['inspect', { step: 2, part: 'result' }],
    ['find', { rule: 'lookup(id ~ "A")' }],
    ['diff', { from: 1, to: 2 }],
    ['what_if', { step: 1, changes: ['result.total=30'] }],
    ['stop_in_code', { step: 1, evaluate: ['1'] }],
    ['nothing', {}],
  ].map(([name, given]) => ['tools/call', { name, arguments: given }])
  const asked = [
    ['initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } }],
    ['tools/list', {}],
    ...calls,
    ['resources/list', {}],
  ]
  return asked.map(([method, params], id) => `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`).join('')
}

/** What a client of `debug --dap` says in a session over one tape. */
export function dapMessages(file: string): string {
  const asked: readonly (readonly [string, object])[] = [
    ['initialize', { adapterID: 'harvest' }],
    ['launch', { tape: file, program: file }],
    ['setFunctionBreakpoints', { breakpoints: [{ name: 'lookup' }, { name: 'lookup(' }] }],
    ['configurationDone', {}],
    ['threads', {}],
    ['stackTrace', { threadId: 1 }],
    ['scopes', { frameId: 1 }],
    ['variables', { variablesReference: 1 }],
    ['variables', { variablesReference: 2 }],
    ['next', { threadId: 1 }],
    ['stepBack', { threadId: 1 }],
    ['evaluate', { expression: 'inspect', frameId: 1 }],
    ['completions', { text: 'in', column: 3 }],
    ['continue', { threadId: 1 }],
    ['disconnect', {}],
  ]
  return asked
    .map(([command, given], at) => {
      const json = JSON.stringify({ seq: at + 1, type: 'request', command, arguments: given })
      return `Content-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`
    })
    .join('')
}
