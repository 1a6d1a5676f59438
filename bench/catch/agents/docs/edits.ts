import { benign, type Edit, regression } from '../../edits.ts'

export const edits: readonly Edit[] = [
  regression('files are cut too early', ['const maxCharacters = 120', 'const maxCharacters = 60']),
  regression('the tool that deletes is offered', ["name !== 'delete_file'", "name !== 'remove_file'"]),
  regression('the guard on the folder is lost', [
    "    if (name === 'write_file' && !path.startsWith(`${task.folder}/`)) return `refused: ${path} is outside`\n",
    '',
  ]),
  regression('a refused path is moved into the folder', [
    'return `refused: ${path} is outside`',
    'args = { ...args, path: `${task.folder}/${path}` }',
  ]),
  regression('long texts are taken for errors', [
    'if (isError) return `error: ${text}`',
    "if (isError || text.length > 60) return 'error'",
  ]),
  regression('the task does not quote the word any more', ['that mention "${task.word}"', 'that mention ${task.word}']),
  regression('only the newest result is kept', [
    '      const { choices } = await openai',
    "      const before = messages.findLast(({ role }) => role === 'tool')\n      for (const each of messages) if (each.role === 'tool' && each !== before) each.content = '(left out)'\n      const { choices } = await openai",
  ]),
  regression('what is written gets a stamp of time', [
    'const { content, isError } = await client.callTool({ name, arguments: args })',
    "const stamped = name === 'write_file' ? { ...args, text: `${args['text']} ${Date.now()}` } : args\n    const { content, isError } = await client.callTool({ name, arguments: stamped })",
  ]),
  regression('what is written gets a random name', [
    'const { content, isError } = await client.callTool({ name, arguments: args })',
    "const named = name === 'write_file' ? { ...args, path: `${path}.${Math.random().toString(36).slice(2, 6)}` } : args\n    const { content, isError } = await client.callTool({ name, arguments: named })",
  ]),
  regression('a write is checked by reading it again', [
    "    if (name === 'write_file') written++\n",
    "    if (name === 'write_file') written++\n    if (name === 'write_file') await client.callTool({ name: 'read_file', arguments: { path } })\n",
  ]),
  regression('writes go to another tool of the same arguments', [
    'const { content, isError } = await client.callTool({ name, arguments: args })',
    "const { content, isError } = await client.callTool({ name: name.replace('write', 'delete'), arguments: args })",
  ]),
  regression('another model', ["model: 'gpt-5'", "model: 'gpt-5-nano'"]),
  regression('the run stops after four turns', ['turn < 10', 'turn < 4']),
  benign('the system prompt is worded anew', [
    "'You keep an index of documents. Read before you write.'",
    "'You maintain an index of documents; always read first, then write.'",
  ]),
  benign('the client has another version', ["version: '1.0.0' })", "version: '1.0.1' })"]),
  benign('the task is worded anew', [
    '`Index the files in ${task.folder} that mention "${task.word}".`',
    '`Please index all files in ${task.folder} that mention "${task.word}". Keep it short.`',
  ]),
  benign('tools are offered in another order', [
    "    .map(({ name, description = '', inputSchema })",
    "    .toReversed()\n    .map(({ name, description = '', inputSchema })",
  ]),
  benign('descriptions are longer', [
    'function: { name, description, parameters',
    'function: { name, description: `${description}.`, parameters',
  ]),
  benign(
    'texts are joined in a helper',
    [
      "(content as { type: string; text: string }[]).map((part) => part.text).join('\\n')",
      'joined(content as { text: string }[])',
    ],
    [
      'type Args = Record<string, string>\n',
      "type Args = Record<string, string>\n\nfunction joined(parts: readonly { readonly text: string }[]): string {\n  return parts.map(({ text }) => text).join('\\n')\n}\n",
    ],
  ),
  benign('the loop counts down', ['for (let turn = 0; turn < 10; turn++)', 'for (let left = 10; left > 0; left--)']),
  benign('calls are timed', [
    'const { content, isError } = await client.callTool({ name, arguments: args })',
    'const begin = performance.now()\n    const { content, isError } = await client.callTool({ name, arguments: args })\n    console.log(`${name} took ${Math.round(performance.now() - begin)} ms`)',
  ]),
  benign(
    'the limit is a default argument',
    ['text.slice(0, maxCharacters)', 'clip(text)'],
    [
      'type Args = Record<string, string>\n',
      'type Args = Record<string, string>\n\nfunction clip(text: string, limit = maxCharacters): string {\n  return text.slice(0, limit)\n}\n',
    ],
  ),
  benign('the answer may be longer', [
    "model: 'gpt-5', messages, tools: offered",
    "model: 'gpt-5', max_completion_tokens: 4_000, messages, tools: offered",
  ]),
]
