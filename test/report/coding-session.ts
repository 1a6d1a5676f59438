/** Words of a file or of a command, the same for the same number. */
function linesOf(n: number, count: number): string {
  return Array.from(
    { length: count },
    (_, line) => `${line + 1}: const value${(n * 31 + line * 7) % 97} = read(${n}, ${line})`,
  ).join('\n')
}

const tools = [
  (n: number) => ['read', { path: `src/part-${n % 23}.ts` }, linesOf(n, 40 + (n % 60))] as const,
  (n: number) =>
    ['bash', { command: `npm test -- part-${n % 23}` }, `ok ${n % 9} tests\n${linesOf(n, n % 20)}`] as const,
  (n: number) =>
    ['edit', { path: `src/part-${n % 23}.ts`, oldText: linesOf(n, 4), newText: linesOf(n + 1, 5) }, 'edited'] as const,
]

/**
 * A session of a coding agent as it keeps one: a line for each message, tool calls in between. Made up, of the length and the
 * shape of real ones.
 */
export function codingSession(calls: number): string {
  let clock = Date.UTC(2026, 2, 4, 5, 6, 7)
  const at = (): string => new Date((clock += 1_370)).toISOString()
  const line = (message: object): string => JSON.stringify({ type: 'message', timestamp: at(), message })
  const usage = (n: number): object => ({
    input: 900 + n * 40,
    output: 60 + (n % 40),
    cacheRead: n * 30,
    cacheWrite: 0,
  })
  const lines = [
    JSON.stringify({
      type: 'session',
      id: 'session-1',
      timestamp: at(),
      cwd: '/home/somebody/project',
      provider: 'invented',
      modelId: 'invented-2',
    }),
    line({
      role: 'user',
      content: [{ type: 'text', text: 'Port the list to the new reader and keep the tests green.' }],
    }),
  ]
  for (let n = 0; n < calls; n++) {
    const [name, args, result] = tools[n % tools.length]!(n)
    const id = `call_${n}`
    const said = n % 5 === 0 ? [{ type: 'text', text: `Part ${n}: I look at it before I change it.` }] : []
    lines.push(
      line({
        role: 'assistant',
        content: [...said, { type: 'toolCall', id, name, arguments: args }],
        provider: 'invented',
        model: 'invented-2',
        usage: usage(n),
        stopReason: 'toolUse',
      }),
      line({
        role: 'toolResult',
        toolCallId: id,
        toolName: name,
        content: [{ type: 'text', text: result }],
        isError: n % 37 === 36,
      }),
    )
  }
  lines.push(
    line({
      role: 'assistant',
      content: [{ type: 'text', text: 'Done: all tests pass.' }],
      provider: 'invented',
      model: 'invented-2',
      usage: usage(calls),
      stopReason: 'stop',
    }),
  )
  return `${lines.join('\n')}\n`
}
