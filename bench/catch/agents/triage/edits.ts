import { benign, type Edit, regression } from '../../edits.ts'

export const edits: readonly Edit[] = [
  regression('less is remembered', ['const maxNotes = 5', 'const maxNotes = 3']),
  regression(
    'the oldest notes are taken',
    ['b.at.localeCompare(a.at)', 'a.at.localeCompare(b.at)'],
    ['const maxNotes = 5', 'const maxNotes = 1'],
  ),
  regression('the notes are not told to the model', ['\\n\\nWhat we know of them:\\n${remembered}', '']),
  regression('a failed search stops the run', ['return `failed: ${(error as Error).message}`', 'throw error']),
  regression('a failed search looks like an empty one', [
    'return `failed: ${(error as Error).message}`',
    'return JSON.stringify(error instanceof Error ? { found: [] } : {})',
  ]),
  regression('the reply is internal', ['public: true', 'public: false']),
  regression('the search asks for fewer articles', ['limit: 3 })', 'limit: 1 })']),
  regression('the priority is set with a wrong verb', [
    "call('PUT', `/tickets/${ticket.id}/priority`",
    "call('POST', `/tickets/${ticket.id}/priority`",
  ]),
  regression('the run ends before the reply', ['const maxTurns = 8', 'const maxTurns = 3']),
  regression('the tools of one turn are not offered in the next', [
    '      messages,\n      tools,\n',
    "      messages,\n      tools: turn === 0 ? tools : tools.filter(({ name }) => name !== 'assign'),\n",
  ]),
  regression(
    'the team is set a turn later',
    [
      "      results.push({ type: 'tool_result', tool_use_id: id, content: await runTool(name, input as Args) })\n",
      "      if (name === 'assign') late = () => runTool(name, input as Args)\n      const content = name === 'assign' ? '{\"ok\":true}' : await runTool(name, input as Args)\n      results.push({ type: 'tool_result', tool_use_id: id, content })\n",
    ],
    [
      '    const { content } = await stream.finalMessage()\n',
      '    const { content } = await stream.finalMessage()\n    await late?.()\n    late = undefined\n',
    ],
    [
      '  const steps: string[] = []\n',
      '  const steps: string[] = []\n  let late: (() => Promise<string>) | undefined\n',
    ],
  ),
  regression('tool results are cut', [
    'content: await runTool(name, input as Args)',
    'content: (await runTool(name, input as Args)).slice(0, 20)',
  ]),
  regression('nothing is remembered of the run', [
    "      await call('POST', '/memory', { customer: ticket.customer, text: `${ticket.id}: ${steps.join(', ')}` })\n",
    '',
  ]),
  benign('the instructions are worded anew', [
    "'You sort support tickets. Set priority and team, then reply.'",
    "'Sort support tickets: first priority and team, then the reply.'",
  ]),
  benign('the tools of a turn run at once', [
    "    const results: Anthropic.ToolResultBlockParam[] = []\n    for (const { id, name, input } of uses) {\n      results.push({ type: 'tool_result', tool_use_id: id, content: await runTool(name, input as Args) })\n      steps.push(name)\n    }",
    "    steps.push(...uses.map(({ name }) => name))\n    const results = await Promise.all(\n      uses.map(async ({ id, name, input }) => {\n        return { type: 'tool_result' as const, tool_use_id: id, content: await runTool(name, input as Args) }\n      }),\n    )",
  ]),
  benign(
    'the descriptions of tools say more',
    ["'Help articles'", "'Searches the help centre; returns titles'"],
    ["'A team'", "'Hands the ticket to a team'"],
  ),
  benign('the notes are sorted by another function', [
    'notes.toSorted((a, b) => b.at.localeCompare(a.at))',
    '[...notes].sort((a, b) => (a.at < b.at ? 1 : -1))',
  ]),
  benign('the model may answer at more length', ['max_tokens: 1_000', 'max_tokens: 2_000']),
  benign('a beta of the provider is asked for', [
    "?? 'sk-not-a-key' })",
    "?? 'sk-not-a-key', defaultHeaders: { 'anthropic-beta': 'context-1m' } })",
  ]),
  benign('the user message has other headings', ['What we know of them:', 'Known about this customer:']),
  benign('steps are measured', [
    '      steps.push(name)\n',
    '      steps.push(name)\n      performance.mark(`step ${steps.length}`)\n',
  ]),
  benign(
    'the text of errors is made in a helper',
    ['return `failed: ${(error as Error).message}`', 'return describe(error)'],
    [
      'type Args = Record<string, string>\n',
      'type Args = Record<string, string>\n\nfunction describe(error: unknown): string {\n  return `failed: ${(error as Error).message}`\n}\n',
    ],
  ),
  benign('the dispatch is a table', [
    "    if (name === 'set_priority') return call('PUT', `/tickets/${ticket.id}/priority`, { priority: args['priority'] })\n    if (name === 'assign') return call('PUT', `/tickets/${ticket.id}/team`, { team: args['team'] })",
    "    const puts: Record<string, [string, object]> = {\n      set_priority: ['priority', { priority: args['priority'] }],\n      assign: ['team', { team: args['team'] }],\n    }\n    const put = puts[name]\n    if (put !== undefined) return call('PUT', `/tickets/${ticket.id}/${put[0]}`, put[1])",
  ]),
]
