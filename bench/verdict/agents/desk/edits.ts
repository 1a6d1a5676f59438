import { type Edit, harmless, meaning, question } from '../../edits.ts'
import type { Text } from '../../operators.ts'

export const of = 'plain fetch to OpenAI chat; a service with credentials, a tenant and keys of idempotency'

export const texts: readonly Text[] = [
  {
    of: 'prompt',
    text: 'You are the support desk of Acme. Never promise a refund above 100 EUR. Always answer in the language of the customer. Escalate to Priya Nair when a lawyer is mentioned. Close a ticket only after the customer has agreed.',
    swaps: [
      ['Priya Nair', 'Priya Nayar'],
      ['EUR', 'USD'],
      ['support', 'sales'],
      ['a lawyer', 'a refund'],
      ['Acme', 'Apex'],
    ],
    translated:
      'Du bist der Kundendienst von Acme. Versprich nie eine Erstattung über 100 EUR. Antworte immer in der Sprache des Kunden. Gib an Priya Nair ab, wenn ein Anwalt genannt wird. Schließe ein Ticket erst, wenn der Kunde zugestimmt hat.',
    reworded: [
      'You work at the support desk of Acme. Never promise a refund above 100 EUR. Always answer in the language of the customer. Escalate to Priya Nair when a lawyer is mentioned. Close a ticket only after the customer has agreed.',
      'You are the support desk of Acme. Do not promise refunds above 100 EUR. Answer in the language of the customer, always. When a lawyer is mentioned, escalate to Priya Nair. Close a ticket only after the customer has agreed.',
    ],
  },
  {
    of: 'description',
    text: 'Adds an internal note to the ticket. Customers never see it.',
    swaps: [['internal', 'public']],
    reworded: ['Adds an internal note to a ticket. It is never seen by customers.'],
  },
  {
    of: 'description',
    text: 'Hands the ticket to a person of the second line.',
    swaps: [['second', 'first']],
    reworded: ['Gives the ticket to a person of the second line.'],
  },
]

const body = "model: 'gpt-5-mini', temperature: 0.2, max_tokens: 400, seed: 7, messages, tools"
const settings = (of: string, name: string, other: string) => meaning(of, name, [body, other])

export const edits: readonly Edit[] = [
  settings('model', 'a smaller model', body.replace('gpt-5-mini', 'gpt-5-nano')),
  settings('model', 'a larger model', body.replace('gpt-5-mini', 'gpt-5')),
  settings('params', 'hotter', body.replace('0.2', '1.8')),
  settings('params', 'cut off early', body.replace('400', '4')),
  settings('params', 'three answers', `${body}, n: 3`),
  settings('params', 'a word ends the answer', `${body}, stop: ['refund']`),
  settings('params', 'words are made unlikely', `${body}, logit_bias: { 1734: -100 }`),
  settings('params', 'no tool may be called', `${body}, tool_choice: 'none'`),
  settings(
    'params',
    'a tool must be called',
    `${body}, tool_choice: { type: 'function', function: { name: 'escalate' } }`,
  ),
  settings('params', 'the answer is JSON', `${body}, response_format: { type: 'json_object' }`),
  settings('params', 'the model thinks less', `${body}, reasoning_effort: 'minimal'`),
  settings('tools', 'no tools are offered', body.replace(', tools', '')),
  settings('tools', 'only the first tool is offered', body.replace('tools', 'tools: tools.slice(0, 1)')),
  meaning('tools', 'a tool more', [
    'const tools = [\n',
    "const tools = [\n  { type: 'function', function: { name: 'close_ticket', description: 'Closes the ticket.', parameters: { type: 'object', properties: {} } } },\n",
  ]),
  meaning('tools', 'an argument is of another type', ["urgent: { type: 'boolean' }", "urgent: { type: 'string' }"]),
  meaning('tools', 'an argument is not required any more', ["required: ['to'],", 'required: [],']),
  meaning('tools', 'an argument is called otherwise in the schema', [
    "properties: { text: { type: 'string' } }, required: ['text']",
    "properties: { note: { type: 'string' } }, required: ['note']",
  ]),
  meaning('tools', 'an argument has a list of values', [
    "to: { type: 'string' }",
    "to: { type: 'string', enum: ['Priya Nair', 'Jo Adler'] }",
  ]),
  meaning('host', 'the model is asked elsewhere', ['https://api.openai.com/v1/', 'https://eu.api.openai.com/v1/']),
  meaning('host', 'the model is asked at another provider', [
    'https://api.openai.com/v1/',
    'https://api.deepseek.com/v1/',
  ]),
  meaning('host', 'the customer service is the one for tests', [
    'https://crm.acme.example',
    'https://crm-staging.acme.example',
  ]),
  meaning('host', 'the customer service is at another port', [
    'https://crm.acme.example',
    'https://crm.acme.example:8443',
  ]),
  meaning('host', 'the customer service is another version', ['crm.acme.example/api', 'crm.acme.example/api/v2']),
  meaning('tenant', 'another tenant', ["'acme-eu'", "'acme-us'"]),
  meaning('tenant', 'no tenant', ["    'x-tenant-id': tenant,\n", '']),
  meaning('tenant', 'another organisation of the model', [
    "'openai-organization': 'org-acme'",
    "'openai-organization': 'org-apex'",
  ]),
  meaning('tenant', 'no organisation of the model', ["      'openai-organization': 'org-acme',\n", '']),
  meaning('tenant', 'a project of the model', [
    "'openai-organization': 'org-acme'",
    "'openai-organization': 'org-acme', 'openai-project': 'proj-9'",
  ]),
  meaning('credentials', 'the customer service is asked without credentials', [
    "    authorization: `Bearer ${process.env['CRM_TOKEN'] ?? 'crm-not-a-token'}`,\n",
    '',
  ]),
  meaning('credentials', 'the scheme is another one', [
    "`Bearer ${process.env['CRM_TOKEN']",
    "`Basic ${process.env['CRM_TOKEN']",
  ]),
  meaning('credentials', 'the model is asked without a key', [
    "      authorization: `Bearer ${process.env['OPENAI_API_KEY'] ?? 'sk-not-a-key'}`,\n",
    '',
  ]),
  meaning('credentials', 'the model is asked with the key in another header', [
    "authorization: `Bearer ${process.env['OPENAI_API_KEY'] ?? 'sk-not-a-key'}`",
    "'api-key': process.env['OPENAI_API_KEY'] ?? 'sk-not-a-key'",
  ]),
  meaning('credentials', 'writes go out under another identity', [
    "    authorization: `Bearer ${process.env['CRM_TOKEN'] ?? 'crm-not-a-token'}`,",
    "    authorization: `Bearer ${method === 'GET' ? 'crm-not-a-token' : 'crm-root-token'}`,",
  ]),
  meaning('idempotency', 'no key of idempotency', ["  if (key !== undefined) headers['idempotency-key'] = key\n", '']),
  meaning('idempotency', 'reply and note share a key', ['`reply-${ticket.id}`', '`note-${ticket.id}`']),
  meaning('headers', 'another form is wanted', ["accept: 'application/json'", "accept: 'application/xml'"]),
  meaning('headers', 'the form is not said', [
    "  if (body !== undefined) headers['content-type'] = 'application/json'\n",
    '',
  ]),
  meaning('headers', 'a language is wanted', [
    "accept: 'application/json',",
    "accept: 'application/json',\n    'accept-language': 'de',",
  ]),
  meaning('user data', 'the customer is not named any more', ['of ${customer.name}, ', 'of ']),
  meaning('user data', 'the plan is not said any more', [', ${customer.plan} plan:', ':']),
  meaning('user data', 'plan and name change places', [
    '${customer.name}, ${customer.plan} plan',
    '${customer.plan}, ${customer.name} plan',
  ]),
  meaning('user data', 'the ticket is cut', ['plan: ${ticket.text}`', 'plan: ${ticket.text.slice(0, 40)}`']),
  meaning('user data', 'the ticket is in capitals', ['plan: ${ticket.text}`', 'plan: ${ticket.text.toUpperCase()}`']),
  meaning('user data', 'amounts are hidden', ['plan: ${ticket.text}`', "plan: ${ticket.text.replace(/\\d+/g, '#')}`"]),
  meaning('history', 'the history is dropped', ['    ...earlier,\n', '']),
  meaning('history', 'only the last turn is kept', ['...earlier,', '...earlier.slice(-1),']),
  meaning('history', 'the history is the other way round', ['...earlier,', '...earlier.toReversed(),']),
  meaning('history', 'the customer said it all', ['({ role, content: text })', "({ role: 'user', content: text })"]),
  meaning('history', 'results of tools are not told', ['content: JSON.stringify(result)', "content: ''"]),
  meaning('history', 'results of tools are told otherwise', [
    'content: JSON.stringify(result)',
    'content: JSON.stringify({ failed: result })',
  ]),
  meaning(
    'history',
    'the instructions come last',
    ["    { role: 'system', content: instructions },\n    ...earlier,\n", '    ...earlier,\n'],
    [': ${ticket.text}` },\n', ": ${ticket.text}` },\n    { role: 'system', content: instructions },\n"],
  ),
  meaning('history', 'the instructions are said by the user', ["role: 'system', content", "role: 'user', content"]),
  meaning('arguments', 'replies are not public any more', ['public: true', 'public: false']),
  meaning('arguments', 'the owner is somebody else', ['owner: args.to,', "owner: 'Jo Adler',"]),
  meaning('arguments', 'urgency is lost', ['urgent: args.urgent ?? false', 'urgent: false']),
  meaning('arguments', 'notes go to the customer', [
    '`/tickets/${ticket.id}/notes`',
    '`/tickets/${ticket.id}/replies`',
  ]),
  meaning('arguments', 'the note is changed', ['{ text: args.text }', '{ text: `${args.text} VIP.` }']),
  meaning('arguments', 'owners are created, not set', ["crmCall('PUT'", "crmCall('POST'"]),

  harmless('spelling', 'the instructions are one part', [
    "role: 'system', content: instructions }",
    "role: 'system', content: [{ type: 'text', text: instructions }] as unknown as string }",
  ]),
  harmless('spelling', 'the system speaks as developer', ["role: 'system', content", "role: 'developer', content"]),
  harmless('spelling', 'keys stand in another order', [
    body,
    "tools, messages, seed: 7, max_tokens: 400, temperature: 0.2, model: 'gpt-5-mini'",
  ]),
  harmless('spelling', 'defaults are said', [
    body,
    `${body}, n: 1, stream: false, tool_choice: 'auto', presence_penalty: 0`,
  ]),
  harmless('spelling', 'defaults of this provider are said', [body, `${body}, top_p: 1, parallel_tool_calls: true`]),
  harmless('spelling', 'the body is indented', [`${body} }),`, `${body} }, null, 2),`]),
  harmless('spelling', 'the number is written otherwise', ['temperature: 0.2', 'temperature: 2e-1']),
  harmless('bookkeeping', 'the user is named for the provider', [
    body,
    `${body}, user: 'desk', metadata: { team: 'desk' }`,
  ]),
  harmless('headers', 'the desk says its name', [
    "'openai-organization': 'org-acme',",
    "'openai-organization': 'org-acme',\n      'user-agent': 'desk/2.0',\n      'x-request-id': 'desk-1',",
  ]),
  harmless('headers', 'the token is a new one', ["'crm-not-a-token'", "'crm-not-a-token-of-april'"]),
  harmless('spelling', 'the header is in capitals', ["'x-tenant-id'", "'X-Tenant-Id'"]),
  harmless('refactoring', 'the address is put together', [
    "'https://crm.acme.example/api'",
    "new URL('/api', 'https://crm.acme.example').href",
  ]),
  harmless('refactoring', 'requests are objects', ['await fetch(endpoint, {', 'await fetch(new URL(endpoint), {']),
  harmless('spelling', 'the port is said', ['https://crm.acme.example/api', 'https://crm.acme.example:443/api']),

  question('params', 'a little cooler', ['temperature: 0.2', 'temperature: 0']),
  question('params', 'a little more room', ['max_tokens: 400', 'max_tokens: 800']),
  question('params', 'another seed', ['seed: 7', 'seed: 8']),
  question('tools', 'an argument is described', [
    "urgent: { type: 'boolean' }",
    "urgent: { type: 'boolean', description: 'Whether it is urgent' }",
  ]),
  question('tools', 'the tools are in another order', [body, body.replace('tools', 'tools: tools.toReversed()')]),
]
