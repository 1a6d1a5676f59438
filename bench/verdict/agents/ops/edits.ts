import { type Edit, harmless, meaning, question } from '../../edits.ts'
import type { Text } from '../../operators.ts'

export const of = 'the SDK of Google; wrapped tools in parallel; a service with basic credentials and a query'

export const texts: readonly Text[] = [
  {
    of: 'prompt',
    text: 'You are on call for payments. Prefer a rollback to a restart. Never touch the ledger. Page the owner only if two attempts failed.',
    swaps: [
      ['a rollback to a restart', 'a restart to a rollback'],
      ['two attempts', 'ten attempts'],
      ['the ledger', 'the cache'],
      ['payments', 'search'],
      ['owner', 'director'],
    ],
    translated:
      'Olet päivystäjä maksujen puolella. Suosi palautusta uudelleenkäynnistyksen sijaan. Älä koskaan koske pääkirjaan. Soita omistajalle vain, jos kaksi yritystä epäonnistui.',
    reworded: [
      'You are on call for payments. Prefer rollbacks to restarts. Never touch the ledger. Page the owner only if two attempts failed.',
    ],
  },
  {
    of: 'description',
    text: 'Error rate of a service over the last minutes.',
    swaps: [['Error rate', 'Load']],
    reworded: ['The error rate of a service over the last minutes.'],
  },
  {
    of: 'description',
    text: 'Versions that were deployed, newest first.',
    swaps: [['newest', 'oldest']],
    reworded: ['Deployed versions, newest first.'],
  },
  {
    of: 'description',
    text: 'Puts an older version in the place of the current one.',
    swaps: [['older', 'newer']],
    reworded: ['Puts an older version where the current one is.'],
  },
]

const line = '        maxOutputTokens: 800,\n'
const more = (name: string, setting: string) => meaning('params', name, [line, `${line}        ${setting},\n`])

export const edits: readonly Edit[] = [
  meaning('model', 'a fast model', ['gemini-3-pro', 'gemini-3-flash']),
  meaning('params', 'hot', ['temperature: 0.2', 'temperature: 2']),
  meaning('params', 'no temperature', ['        temperature: 0.2,\n', '']),
  meaning('params', 'cut off', ['maxOutputTokens: 800', 'maxOutputTokens: 8']),
  more('top_k', 'topK: 1'),
  more('a word ends it', "stopSequences: ['v41']"),
  more('several answers', 'candidateCount: 2'),
  more('JSON', "responseMimeType: 'application/json'"),
  more('no thinking', 'thinkingConfig: { thinkingBudget: 0 }'),
  more(
    'everything is allowed',
    "safetySettings: [{ category: 'HARM_CATEGORY_DANGEROUS_CONTENT' as never, threshold: 'BLOCK_NONE' as never }]",
  ),
  more('any tool', "toolConfig: { functionCallingConfig: { mode: 'ANY' as never } }"),
  more('kept content', "cachedContent: 'cachedContents/77'"),
  more('a seed for chance', 'presencePenalty: 1'),
  meaning('prompt', 'no instruction', ['        systemInstruction: instruction,\n', '']),
  meaning(
    'prompt',
    'the instruction is said by the user',
    ['        systemInstruction: instruction,\n', ''],
    ['`Runbook:\\n', '`${instruction}\\nRunbook:\\n'],
  ),
  meaning('tools', 'no rollback', ['functionDeclarations: declared }', 'functionDeclarations: declared.slice(0, 2) }']),
  meaning('tools', 'search as well', [
    '[{ functionDeclarations: declared }]',
    '[{ functionDeclarations: declared }, { googleSearch: {} }]',
  ]),
  meaning('tools', 'code as well', [
    '[{ functionDeclarations: declared }]',
    '[{ functionDeclarations: declared, codeExecution: {} }]',
  ]),
  meaning('tools', 'minutes are a number', ["minutes: { type: 'integer' }", "minutes: { type: 'number' }"]),
  meaning('tools', 'no version is required', [", required: ['version'] }", ' }']),
  meaning('history', 'no runbook', [
    "    { role: 'user', parts: [{ text: `Runbook:\\n${alert.runbook}` }] },\n    { role: 'model', parts: [{ text: 'I have read it.' }] },\n",
    '',
  ]),
  meaning('history', 'the model has not read it', ['I have read it.', 'I have not read it.']),
  meaning('history', 'the model says nothing', ["    { role: 'model', parts: [{ text: 'I have read it.' }] },\n", '']),
  meaning('history', 'the user says that it was read', [
    "{ role: 'model', parts: [{ text: 'I",
    "{ role: 'user', parts: [{ text: 'I",
  ]),
  meaning('user data', 'the runbook is cut', ['${alert.runbook}`', "${alert.runbook.split(' 3.')[0]}`"]),
  meaning('user data', 'a step of the runbook is another one', [
    '${alert.runbook}`',
    "${alert.runbook.replace('roll it back', 'restart it')}`",
  ]),
  meaning('user data', 'a number of the runbook', ['${alert.runbook}`', "${alert.runbook.replace('60', '600')}`"]),
  meaning('user data', 'a name of the runbook', ['${alert.runbook}`', "${alert.runbook.replace('Aino', 'Aina')}`"]),
  meaning('user data', 'the service is not named', ['`Alert for ${alert.service}: ', '`Alert: ']),
  meaning('user data', 'above becomes below', ['${alert.text}`', "${alert.text.replace('above', 'below')}`"]),
  meaning('user data', 'another time', ['${alert.text}`', "${alert.text.replace('02:10', '20:10')}`"]),
  meaning('history', 'results are empty', ['response: { output } }', 'response: {} }']),
  meaning('history', 'results are errors', ['response: { output } }', 'response: { error: output } }']),
  meaning('history', 'one result of two', ['parts: results.map(', 'parts: results.slice(-1).map(']),
  meaning('history', 'results change places', ['parts: results.map(', 'parts: results.toReversed().map(']),
  meaning('history', 'results are in the answer of the model', [
    "    contents.push({\n      role: 'user',",
    "    contents.push({\n      role: 'model',",
  ]),
  meaning('arguments', 'another window', ['minutes: 30 }', 'minutes: 3 }']),
  meaning('arguments', 'fewer deploys', ['limit: 5', 'limit: 1']),
  meaning('arguments', 'another service is rolled back', [
    'platform.rollback({ service: alert.service',
    "platform.rollback({ service: 'ledger'",
  ]),
  meaning('arguments', 'another version', ["String(args['version'])", "String(args['version']).replace('1', '2')"]),
  meaning('arguments', 'another region', ["'eu-north-1'", "'us-east-1'"]),
  meaning('arguments', 'no region', [', region })\n  }', ", region: '' })\n  }"]),
  meaning('arguments', 'nobody is told', ["notify: 'subscribers'", "notify: 'nobody'"]),
  meaning('arguments', 'the query is shorter', ["{ service, region, notify: 'subscribers' }", '{ service, region }']),
  meaning('arguments', 'it is resolved', ["state: 'monitoring'", "state: 'resolved'"]),
  meaning('arguments', 'the text is left out', ["{ text, state: 'monitoring' }", "{ state: 'monitoring' }"]),
  meaning('host', 'another page', ['/status/incidents', '/status/maintenances']),
  meaning('host', 'the page of another host', ["${process.env['GATEWAY']}/status", 'https://status.example/status']),
  meaning('credentials', 'none', [
    "      authorization: `Basic ${process.env['STATUS_KEY'] ?? 'c3RhdHVzOm5vdC1hLWtleQ=='}`,\n",
    '',
  ]),
  meaning('credentials', 'another scheme', ['`Basic ${', '`Bearer ${']),
  meaning('tenant', 'another project', ["'x-project-id': 'payments'", "'x-project-id': 'search'"]),
  meaning('tenant', 'no project', ["      'x-project-id': 'payments',\n", '']),
  meaning('host', 'the model is asked at another version', [
    "?? 'not-a-key' })",
    "?? 'not-a-key', apiVersion: 'v1alpha' })",
  ]),
  meaning('host', 'the model is asked elsewhere', [
    "?? 'not-a-key' })",
    "?? 'not-a-key', httpOptions: { baseUrl: 'https://eu-generativelanguage.googleapis.com' } })",
  ]),

  harmless(
    'streaming',
    'streamed',
    [
      'const response = await client.models.generateContent({',
      'const stream = await client.models.generateContentStream({',
    ],
    [
      '        tools: [{ functionDeclarations: declared }],\n      },\n    })\n',
      "        tools: [{ functionDeclarations: declared }],\n      },\n    })\n    let response = {} as Awaited<ReturnType<typeof client.models.generateContent>>\n    for await (const chunk of stream) {\n      const before = response.candidates?.[0]?.content?.parts ?? []\n      const parts = chunk.candidates?.[0]?.content?.parts ?? []\n      response = chunk\n      response.candidates![0]!.content = { role: 'model', parts: [...before, ...parts] }\n    }\n",
    ],
  ),
  harmless('spelling', 'the instruction is a content', [
    'systemInstruction: instruction',
    'systemInstruction: { parts: [{ text: instruction }] }',
  ]),
  harmless('spelling', 'the role is left out', ["{ role: 'user', parts: [{ text: `Alert", '{ parts: [{ text: `Alert']),
  harmless('host', 'localhost instead of 127.0.0.1', [
    "${process.env['GATEWAY']}/status",
    "${process.env['GATEWAY']!.replace('127.0.0.1', 'localhost')}/status",
  ]),
  harmless('spelling', 'the query in another order', [
    "{ service, region, notify: 'subscribers' }",
    "{ notify: 'subscribers', region, service }",
  ]),
  harmless('spelling', 'the query is written by hand', ['${query.toString()}`', '${String(query)}`']),
  harmless('concurrency', 'tools run one after the other', [
    "const results = await Promise.all(\n      calls.map(async ({ name = '', args = {} }) => ({ name, output: await act(name, args) })),\n    )",
    "const results: { name: string; output: unknown }[] = []\n    for (const { name = '', args = {} } of calls) results.push({ name, output: await act(name, args) })",
  ]),
  harmless(
    'concurrency',
    'tools begin in the other order',
    [
      'const results = await Promise.all(\n      calls.map(',
      'const results = await Promise.all(\n      calls.toReversed().map(',
    ],
    [
      'output: await act(name, args) })),\n    )',
      'output: await act(name, args) })),\n    ).then((all) => all.toReversed())',
    ],
  ),
  harmless('headers', 'the page is told who asks', [
    "'x-project-id': 'payments',",
    "'x-project-id': 'payments',\n      'user-agent': 'on-call/3',\n      traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',",
  ]),
  harmless('spelling', 'the body in another order', ["{ text, state: 'monitoring' }", "{ state: 'monitoring', text }"]),
  harmless('refactoring', 'the client is made for each alert', [
    '    const response = await client.models',
    "    const response = await new GoogleGenAI({ apiKey: process.env['GEMINI_API_KEY'] ?? 'not-a-key' }).models",
  ]),
  question('params', 'a little cooler', ['temperature: 0.2', 'temperature: 0.1']),
  question('params', 'a little more room', ['maxOutputTokens: 800', 'maxOutputTokens: 900']),
  question('tools', 'in another order', [
    'functionDeclarations: declared }',
    'functionDeclarations: declared.toReversed() }',
  ]),
  question('messages', 'a line less', ['`Runbook:\\n${', '`Runbook: ${']),
]
