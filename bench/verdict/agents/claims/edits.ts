import { type Edit, harmless, meaning, question } from '../../edits.ts'
import type { Text } from '../../operators.ts'

export const of = 'the SDK of Anthropic; examples, a document, a wrapped tool, a value from outside'

export const texts: readonly Text[] = [
  {
    of: 'prompt',
    text: 'You decide on claims of household insurance. Pay at most 2500 EUR without a person. Never pay for theft unless the police were told. Water damage is paid in full.',
    swaps: [
      ['at most', 'at least'],
      ['unless', 'if'],
      ['in full', 'by half'],
      ['household', 'travel'],
      ['police', 'landlord'],
      ['EUR', 'USD'],
    ],
    translated:
      'Decides sobre siniestros del seguro del hogar. Paga como máximo 2500 EUR sin consultar a una persona. No pagues nunca un robo si no se avisó a la policía. Los daños por agua se pagan por completo.',
    reworded: [
      'You decide on claims under household insurance. Pay at most 2500 EUR without a person. Never pay for theft unless the police were told. Water damage is paid in full.',
      'You decide on household insurance claims. Without a person, pay at most 2500 EUR. Never pay for theft unless the police were told. Water damage is paid in full.',
    ],
  },
  {
    of: 'description',
    text: 'Books the decision. It is final and the customer is told at once.',
    swaps: [
      ['final', 'a draft'],
      ['at once', 'later'],
    ],
    reworded: ['Books the decision. It is final, and the customer hears of it at once.'],
  },
  {
    of: 'example',
    text: 'DECLINE: theft without a report to the police.',
    swaps: [['DECLINE', 'PAY']],
  },
  {
    of: 'example',
    text: 'Claim 2: the washing machine flooded the kitchen. 900 EUR',
    swaps: [['flooded the kitchen', 'was stolen']],
  },
]

const system = '      system: rules,\n'
const more = (of: string, name: string, line: string) => meaning(of, name, [system, `${system}      ${line},\n`])
const create = 'const stream = client.messages.stream({'
const end = '      tools: offered,\n    })\n    const answer = await stream.finalMessage()'
const whole = '      tools: offered,\n    })'

export const edits: readonly Edit[] = [
  meaning('model', 'a small model', ['claude-sonnet-4', 'claude-haiku-4']),
  meaning('model', 'a dated model', ['claude-sonnet-4', 'claude-sonnet-4-20250514']),
  meaning('params', 'hot', ['temperature: 0.3', 'temperature: 1']),
  meaning('params', 'no temperature', ['      ...{ temperature: 0.3 },\n', '']),
  meaning('params', 'cut off', ['max_tokens: 1_024', 'max_tokens: 16']),
  meaning('params', 'another end', ["['END']", "['PAY']"]),
  meaning('params', 'no end', ["      stop_sequences: ['END'],\n", '']),
  more('params', 'top_p', 'top_p: 0.1'),
  more('params', 'top_k', 'top_k: 1'),
  more('params', 'it thinks', "thinking: { type: 'enabled', budget_tokens: 1_000 }"),
  more('params', 'it has to decide', "tool_choice: { type: 'tool', name: 'decide' }"),
  more('params', 'any tool', "tool_choice: { type: 'any' }"),
  more('params', 'no tool', "tool_choice: { type: 'none' }"),
  meaning('prompt', 'no rules', [system, '']),
  meaning(
    'prompt',
    'the rules are said by the customer',
    [system, ''],
    [
      "          type: 'text',\n          text: `Claim",
      "          type: 'text',\n          text: rules,\n        },\n        {\n          type: 'text',\n          text: `Claim",
    ],
  ),
  meaning('prompt', 'the rules twice', [
    'system: rules',
    "system: [{ type: 'text', text: rules }, { type: 'text', text: rules }]",
  ]),
  meaning('prompt', 'the rules in two parts', [
    'system: rules',
    "system: rules.split('. ').map((text) => ({ type: 'text' as const, text }))",
  ]),
  meaning('example', 'no examples', ['    ...examples,\n', '']),
  meaning('example', 'the first example only', ['...examples,', '...examples.slice(0, 2),']),
  meaning('example', 'the examples in another order', [
    '...examples,',
    '...examples.slice(2), ...examples.slice(0, 2),',
  ]),
  meaning('example', 'an example of its own opposite', ['PAY 900: water damage.', 'DECLINE: water damage.']),
  meaning('example', 'a sum of an example', ['PAY 900:', 'PAY 90:']),
  meaning('example', 'did and did not', ['I did not call', 'I did call']),
  meaning('tools', 'a value less', ["['pay', 'decline', 'person']", "['pay', 'decline']"]),
  meaning('tools', 'values in another order', ["['pay', 'decline', 'person']", "['person', 'decline', 'pay']"]),
  meaning('tools', 'a reason is required', [
    "required: ['verdict', 'amount']",
    "required: ['verdict', 'amount', 'reason']",
  ]),
  meaning('tools', 'the amount is a text', ["amount: { type: 'number' }", "amount: { type: 'string' }"]),
  meaning('tools', 'no tools', ['      tools: offered,\n', '']),
  meaning('tools', 'another tool of the provider', [
    'tools: offered,',
    "tools: [...offered, { type: 'web_search_20250305', name: 'web_search' }],",
  ]),
  meaning('user data', 'the policy is left out', [
    "        { type: 'document', source: { type: 'text', media_type: 'text/plain', data: claim.policy }, title: 'Policy' },\n",
    '',
  ]),
  meaning('user data', 'the policy is cut', ['data: claim.policy }', 'data: claim.policy.slice(0, 40) }']),
  meaning('user data', 'the policy has another title', ["title: 'Policy'", "title: 'Draft'"]),
  meaning('user data', 'the own share is another one', [
    'data: claim.policy }',
    "data: claim.policy.replace('150', '1500') }",
  ]),
  meaning('user data', 'the policy of somebody else', [
    'data: claim.policy }',
    "data: claim.policy.replace('Jonas Weber', 'Jonas Webber') }",
  ]),
  meaning('user data', 'the policy is looked up in citations', [
    "title: 'Policy' }",
    "title: 'Policy', citations: { enabled: true } }",
  ]),
  meaning('user data', 'amount and claim change places', [
    'Claim ${claim.number}: ${claim.report} ${claim.amount} EUR',
    'Claim ${claim.amount}: ${claim.report} ${claim.number} EUR',
  ]),
  meaning('user data', 'pounds', ['${claim.amount} EUR (', '${claim.amount} GBP (']),
  meaning('user data', 'the amount in cents', ['${claim.amount} EUR (', '${claim.amount * 100} EUR (']),
  meaning('user data', 'the amount in dollars is rounded', ['.toFixed(2)', '.toFixed(0)']),
  meaning('user data', 'another rate', ['claim.amount * rate', 'claim.amount / rate']),
  meaning('user data', 'the report is left out', ['${claim.report} ', '']),
  meaning(
    'user data',
    'the document comes last',
    [
      "        { type: 'document', source: { type: 'text', media_type: 'text/plain', data: claim.policy }, title: 'Policy' },\n",
      '',
    ],
    [
      ' USD)`,\n        },\n',
      " USD)`,\n        },\n        { type: 'document', source: { type: 'text', media_type: 'text/plain', data: claim.policy }, title: 'Policy' },\n",
    ],
  ),
  meaning('history', 'results say that they are errors', [
    "type: 'tool_result', tool_use_id",
    "type: 'tool_result', is_error: true, tool_use_id",
  ]),
  meaning('history', 'results are empty', [', content: JSON.stringify(booked) })', ' })']),
  meaning('history', 'results are told as done', ['content: JSON.stringify(booked)', "content: 'done'"]),
  meaning('history', 'a hint beside the results', [
    "messages.push({ role: 'user', content: results })",
    "messages.push({ role: 'user', content: [...results, { type: 'text', text: 'Be brief.' }] })",
  ]),
  meaning('arguments', 'the cap is lost', ['Math.min(amount, 2_500)', 'amount']),
  meaning('arguments', 'another cap', ['Math.min(amount, 2_500)', 'Math.min(amount, 2_499.99)']),
  meaning('arguments', 'always paid', ['verdict, amount: Math', "verdict: 'decline', amount: Math"]),
  meaning('arguments', 'another claim', ['claim: claim.number', "claim: claim.number.replace('12', '21')"]),
  meaning('arguments', 'the reason is left out', [', reason })\n', ", reason: '' })\n"]),
  meaning('arguments', 'the reason says the opposite', [
    ', reason })\n',
    ", reason: reason.replace('less', 'plus') })\n",
  ]),
  meaning('arguments', 'the reason in lower case', [', reason })\n', ', reason: reason.toLowerCase() })\n']),
  meaning('headers', 'a beta', [
    'maxRetries: 0',
    "maxRetries: 0, defaultHeaders: { 'anthropic-beta': 'interleaved-thinking-2025-05-14' }",
  ]),
  meaning('headers', 'another version', [
    'maxRetries: 0',
    "maxRetries: 0, defaultHeaders: { 'anthropic-version': '2025-01-01' }",
  ]),
  meaning('credentials', 'nobody says who asks', [
    'maxRetries: 0',
    'maxRetries: 0, defaultHeaders: { authorization: null }',
  ]),
  meaning('host', 'asked through a gateway', [
    'maxRetries: 0',
    "maxRetries: 0, baseURL: 'https://llm-gateway.example/anthropic'",
  ]),

  harmless('streaming', 'wanted as a whole', [create, 'const answer = await client.messages.create({'], [end, whole]),
  harmless('SDK', 'the stream is read piece by piece', [
    'const answer = await stream.finalMessage()',
    'for await (const _event of stream) void _event\n    const answer = await stream.finalMessage()',
  ]),
  harmless(
    'streaming',
    'wanted as a whole, with the raw response',
    [create, 'const { data: answer } = await client.messages.create({'],
    [end, `${whole}.withResponse()`],
  ),
  harmless(
    'streaming',
    'wanted as a whole, posted by hand',
    [
      create,
      "const answer = await client.post<Anthropic.Messages.MessageCreateParamsNonStreaming, Anthropic.Message>('/v1/messages', { body: {",
    ],
    [end, '      tools: offered,\n    } })'],
  ),
  harmless('spelling', 'the rules are one block', ['system: rules', "system: [{ type: 'text', text: rules }]"]),
  harmless('spelling', 'the rules are cached', [
    'system: rules',
    "system: [{ type: 'text', text: rules, cache_control: { type: 'ephemeral' } }]",
  ]),
  harmless('spelling', 'an example is a block', [
    "content: 'PAY 900: water damage.' }",
    "content: [{ type: 'text', text: 'PAY 900: water damage.' }] }",
  ]),
  harmless('spelling', 'results are no errors', [
    "type: 'tool_result', tool_use_id",
    "type: 'tool_result', is_error: false, tool_use_id",
  ]),
  harmless('spelling', 'results are a block', [
    'content: JSON.stringify(booked) }',
    "content: [{ type: 'text', text: JSON.stringify(booked) }] }",
  ]),
  harmless(
    'spelling',
    'the question is two turns of one role',
    ["{ type: 'document', source", "{ type: 'document' as const, source"],
    ["title: 'Policy' },\n", "title: 'Policy' },\n      ],\n    },\n    {\n      role: 'user',\n      content: [\n"],
  ),
  harmless('spelling', 'tools are custom', [
    "    name: 'decide',\n    description",
    "    type: 'custom',\n    name: 'decide',\n    description",
  ]),
  harmless('spelling', 'defaults are said', [
    system,
    `${system}      tool_choice: { type: 'auto' },\n      stream: false,\n`,
  ]),
  harmless('bookkeeping', 'metadata', [system, `${system}      metadata: { user_id: claim.number },\n`]),
  harmless(
    'refactoring',
    'the value is read later',
    ["  const rate = value('rate of the day', () => 1.08)\n", ''],
    ['${(claim.amount * rate)', "${(claim.amount * value('rate of the day', () => 1.08))"],
  ),
  question('params', 'a little warmer', ['temperature: 0.3', 'temperature: 0.4']),
  question('params', 'more room', ['max_tokens: 1_024', 'max_tokens: 2_048']),
  question('tools', 'the amount is described', [
    "amount: { type: 'number' }",
    "amount: { type: 'number', description: 'In EUR' }",
  ]),
  question('messages', 'a colon less', ['`Claim ${claim.number}: ', '`Claim ${claim.number} - ']),
]
