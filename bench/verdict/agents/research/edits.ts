import { type Edit, harmless, meaning, question } from '../../edits.ts'
import type { Text } from '../../operators.ts'

export const of = 'the SDK of OpenAI, responses; a wrapped retriever; tools that the provider runs'

export const texts: readonly Text[] = [
  {
    of: 'prompt',
    text: 'You are a paralegal at Holm & Partners. Quote the clause you rely on. Do not give advice on tax. If two clauses conflict, the later one prevails. Answer in at most 120 words.',
    swaps: [
      ['Holm & Partners', 'Holst & Partners'],
      ['later', 'earlier'],
      ['at most', 'at least'],
      ['tax', 'rent'],
      ['Do not give', 'Do give'],
    ],
    translated:
      'Vous êtes juriste chez Holm & Partners. Citez la clause sur laquelle vous vous fondez. Ne donnez pas de conseil fiscal. Si deux clauses se contredisent, la plus récente prévaut. Répondez en 120 mots au plus.',
    reworded: [
      'You work as a paralegal at Holm & Partners. Quote the clause you rely on. Do not give advice on tax. If two clauses conflict, the later one prevails. Answer in at most 120 words.',
      "You are a paralegal at Holm & Partners. Quote the clause you rely on. Don't give advice on tax. If two clauses conflict, the later one prevails. Answer in no more than 120 words.",
    ],
  },
  {
    of: 'description',
    text: 'Finds clauses of the contract by meaning. Ask once per topic.',
    swaps: [
      ['once', 'three times'],
      ['by meaning', 'by their exact words'],
    ],
    reworded: ['Finds clauses of a contract by what they mean. Ask once per topic.'],
  },
]

const options = '      max_output_tokens: 2_000,\n'
const more = (name: string, line: string) => meaning('params', name, [options, `${options}      ${line},\n`])
const call = 'await client.responses.create({'

export const edits: readonly Edit[] = [
  meaning('model', 'a small model', ["model: 'gpt-5'", "model: 'gpt-5-mini'"]),
  meaning('model', 'a model that thinks longer', ["model: 'gpt-5'", "model: 'gpt-5-pro'"]),
  meaning('params', 'less thinking', ["effort: 'medium'", "effort: 'low'"]),
  meaning('params', 'no word on thinking', ["      reasoning: { effort: 'medium' },\n", '']),
  meaning('params', 'cut off', ['max_output_tokens: 2_000', 'max_output_tokens: 20']),
  more('hot', 'temperature: 1.9'),
  more('what is too long is cut', "truncation: 'auto'"),
  more('nothing is kept', 'store: false'),
  more('a shape for the answer', "text: { format: { type: 'json_object' } }"),
  more('few words', "text: { verbosity: 'low' }"),
  more('no tools', "tool_choice: 'none'"),
  more('in the background', 'background: true'),
  more('a kept prompt', "prompt: { id: 'pmpt_1' }"),
  meaning('data', 'another conversation goes on', [
    'previous_response_id: question.earlier',
    'previous_response_id: `${question.earlier}9`',
  ]),
  meaning('data', 'no conversation goes on', ['      previous_response_id: question.earlier,\n', '']),
  meaning('data', 'the contracts of another client are searched', ["['vs_holm_contracts']", "['vs_apex_contracts']"]),
  meaning('data', 'those of another client as well', [
    "['vs_holm_contracts']",
    "['vs_holm_contracts', 'vs_apex_contracts']",
  ]),
  meaning('data', 'fewer files are found', ['max_num_results: 8', 'max_num_results: 1']),
  meaning('data', 'another register', ['https://register.example/mcp', 'https://register-test.example/mcp']),
  meaning('data', 'a register that asks', ["require_approval: 'never'", "require_approval: 'always'"]),
  meaning('data', 'a register with a key', [
    "require_approval: 'never'",
    "require_approval: 'never', headers: { authorization: 'Bearer other' }",
  ]),
  meaning('data', 'a register with fewer tools', [
    "require_approval: 'never'",
    "require_approval: 'never', allowed_tools: ['find']",
  ]),
  meaning('data', 'only some files', [
    'max_num_results: 8',
    "max_num_results: 8, filters: { type: 'eq', key: 'client', value: 'apex' }",
  ]),
  meaning('tools', 'no register', [
    "  { type: 'mcp', server_label: 'register', server_url: 'https://register.example/mcp', require_approval: 'never' },\n",
    '',
  ]),
  meaning('tools', 'the web as well', [
    "  { type: 'file_search'",
    "  { type: 'web_search_preview' },\n  { type: 'file_search'",
  ]),
  meaning('tools', 'strict', ['strict: false', 'strict: true']),
  meaning('tools', 'no tools', ['      tools,\n', '']),
  meaning('tools', 'another argument', [
    "properties: { text: { type: 'string' } }, required: ['text']",
    "properties: { query: { type: 'string' } }, required: ['query']",
  ]),
  meaning('prompt', 'no instructions', ['      instructions,\n', '']),
  meaning(
    'prompt',
    'the instructions are said by the user',
    ['      instructions,\n', ''],
    ['`Matter ${question.matter}. ', '`${instructions} Matter ${question.matter}. '],
  ),
  meaning(
    'prompt',
    'the instructions are the first turn',
    ['      instructions,\n', ''],
    ["    { role: 'user', content", "    { role: 'developer', content: instructions },\n    { role: 'user', content"],
  ),
  meaning('user data', 'the matter is not said', ['`Matter ${question.matter}. ${question.text}`', 'question.text']),
  meaning('user data', 'another matter', [
    '`Matter ${question.matter}. ',
    "`Matter ${question.matter.replace('2291', '2292')}. ",
  ]),
  meaning('user data', 'the question is cut', ['${question.text}`', '${question.text.split(",")[0]}`']),
  meaning('user data', 'another year', ['${question.text}`', "${question.text.replace('2026', '2027')}`"]),
  meaning('user data', 'the question is negated', [
    '${question.text}`',
    "${question.text.replace('Can the', 'Can not the')}`",
  ]),
  meaning('history', 'its own calls are not told', [
    '...(response.output as OpenAI.Responses.ResponseInput)',
    "...(response.output.map((item) => ({ ...item, ...(item.type === 'function_call' && { arguments: '{}' }) })) as OpenAI.Responses.ResponseInput)",
  ]),
  meaning('history', 'results are emptied', ['output: JSON.stringify(found)', "output: '[]'"]),
  meaning('history', 'results lose their rank', [
    'output: JSON.stringify(found)',
    'output: JSON.stringify(found.map(({ clause }) => clause))',
  ]),
  meaning('history', 'results are the other way round', [
    'output: JSON.stringify(found)',
    'output: JSON.stringify(found.toReversed())',
  ]),
  meaning('retriever', 'fewer clauses', ['top: 3 })', 'top: 1 })']),
  meaning('retriever', 'another matter is searched', ['matter: question.matter, top', "matter: 'M-0001', top"]),
  meaning('retriever', 'what is searched is in capitals', ['search({ text,', 'search({ text: text.toUpperCase(),']),
  meaning('retriever', 'what is searched has a word more', ['search({ text,', 'search({ text: `${text} not`,']),
  meaning('retriever', 'the question is searched', ['search({ text,', 'search({ text: question.text,']),
  meaning('credentials', 'for another project', ['maxRetries: 0', "project: 'proj_apex', maxRetries: 0"]),
  meaning('host', 'asked in another region', [
    'maxRetries: 0',
    "baseURL: 'https://us.api.openai.com/v1', maxRetries: 0",
  ]),

  harmless(
    'streaming',
    'streamed',
    [call, 'await client.responses.stream({'],
    [`${options}    })`, `${options}    }).finalResponse()`],
  ),
  harmless('SDK', 'parsed by the SDK', ['await client.responses.create({', 'await client.responses.parse({']),
  harmless(
    'SDK',
    'with the raw response',
    ['const response = await client.responses.create({', 'const { data: response } = await client.responses.create({'],
    [`${options}    })`, `${options}    }).withResponse()`],
  ),
  harmless(
    'SDK',
    'posted by hand',
    [
      'await client.responses.create({',
      "await client.post<OpenAI.Responses.Response, OpenAI.Responses.ResponseCreateParams>('/responses', { body: {",
    ],
    [`${options}    })`, `${options}    } })`],
    [
      'return response.output_text',
      "return response.output.flatMap((item) => (item.type === 'message' ? item.content : [])).map((part) => (part.type === 'output_text' ? part.text : '')).join('')",
    ],
  ),
  harmless('spelling', 'the turn is called a message', [
    "{ role: 'user', content",
    "{ type: 'message', role: 'user', content",
  ]),
  harmless('spelling', 'the question is one part', [
    'content: `Matter ${question.matter}. ${question.text}` }',
    "content: [{ type: 'input_text', text: `Matter ${question.matter}. ${question.text}` }] }",
  ]),
  harmless('spelling', 'results are one part', [
    'output: JSON.stringify(found) })',
    "output: [{ type: 'input_text', text: JSON.stringify(found) }] })",
  ]),
  harmless('spelling', 'defaults are said', [
    options,
    `${options}      store: true,\n      truncation: 'disabled',\n      tool_choice: 'auto',\n      parallel_tool_calls: true,\n`,
  ]),
  harmless('spelling', 'more defaults are said', [
    options,
    `${options}      temperature: 1,\n      top_p: 1,\n      stream: false,\n      text: { format: { type: 'text' } },\n`,
  ]),
  harmless('bookkeeping', 'metadata', [
    options,
    `${options}      metadata: { matter: question.matter },\n      service_tier: 'auto',\n`,
  ]),
  harmless(
    'refactoring',
    'the order of the fields',
    ["      model: 'gpt-5',\n      instructions,\n", '      instructions,\n'],
    [options, `${options}      model: 'gpt-5',\n`],
  ),
  harmless('refactoring', 'the prompt is put together', [
    'const instructions = `You are',
    "const instructions = `${'You'} are",
  ]),
  question('params', 'a little more room', ['max_output_tokens: 2_000', 'max_output_tokens: 2_500']),
  question('tools', 'the order of the tools', ['      tools,\n', '      tools: tools.toReversed(),\n']),
  question('tools', 'an argument is described', [
    "{ text: { type: 'string' } }",
    "{ text: { type: 'string', description: 'What the clause is about' } }",
  ]),
]
