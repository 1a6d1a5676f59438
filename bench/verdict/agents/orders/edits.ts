import { type Edit, harmless, inFile, meaning, question } from '../../edits.ts'
import type { Text } from '../../operators.ts'

export const of = 'the SDK of OpenAI, chat; a prompt in a file; services by axios on a loopback address; wrapped tools'

export const files = ['prompt.md']

export const texts: readonly Text[] = [
  {
    of: 'description',
    text: 'Sends a new bottle for a broken one, free of charge.',
    swaps: [['free of charge', 'at the usual price']],
    reworded: ['Sends a new bottle for one that broke, free of charge.'],
  },
  {
    of: 'description',
    text: 'Takes a percentage off the order. Cannot be taken back.',
    swaps: [['Cannot', 'Can']],
    reworded: ['Takes a percentage off an order. This cannot be undone.'],
  },
]

const body = "model: 'gpt-5', top_p: 0.9, messages, tools: offered"
const asked = (name: string, other: string) => meaning('params', name, [body, other])
const reads = "  const stock = await read('/stock')\n  const delays = await read('/delays')\n"
const create = 'const stream = client.chat.completions.stream({ '
const whole = `${create}${body} })\n    const completion = await stream.finalChatCompletion()\n`

export const edits: readonly Edit[] = [
  ...inFile('prompt.md', [
    meaning('prompt', 'never becomes always', ['- Never sell', '- Always sell']),
    meaning('prompt', 'another age', ['under 18', 'under 16']),
    meaning('prompt', 'the age is written in words of another number', ['under 18', 'under eighty']),
    meaning('prompt', 'more is off', ['15 percent', '50 percent']),
    meaning('prompt', 'at least instead of at most', ['at most 15', 'at least 15']),
    meaning('prompt', 'not only once', [', and only once per order', '']),
    meaning('prompt', 'the carriers change places', [
      'only by Postnord, never by DHL',
      'only by DHL, never by Postnord',
    ]),
    meaning('prompt', 'another country', ['to Norway', 'to Finland']),
    meaning('prompt', 'a rule is dropped', ['- Never sell to anybody under 18.\n', '']),
    meaning('prompt', 'the last rule is dropped', [
      '- When a bottle broke, replace it before you ask for photos.\n',
      '',
    ]),
    meaning('prompt', 'photos come first', [
      'replace it before you ask for photos',
      'ask for photos before you replace it',
    ]),
    meaning('prompt', 'another name signs', ['Margaux, Cave du Nord', 'Margot, Cave du Nord']),
    meaning('prompt', 'nobody signs', ['Sign every answer with "Margaux, Cave du Nord".\n', '']),
    meaning('prompt', 'a rule is added', ['\nSign every', '- Refuse refunds.\n\nSign every']),
    meaning('prompt', 'it helps others', ['the customers of', 'the suppliers of']),
    meaning('prompt', 'a digit of another alphabet', ['under 18', 'under 1\u0668']),
    meaning('prompt', 'a letter of another alphabet', ['by DHL', 'by D\u041dL']),
    meaning('prompt', 'in another language', ['Never sell to anybody under 18', 'Verkaufe nie an jemanden unter 18']),
    meaning('prompt', 'commented out', ['Rules:\n', '<!-- Rules:\n'], ['photos.\n', 'photos. -->\n']),
    question(
      'prompt',
      'stars instead of dashes',
      ['- Never', '* Never'],
      ['- Offer', '* Offer'],
      ['- Ship', '* Ship'],
      ['- When', '* When'],
    ),
    question('prompt', 'an empty line more', ['Rules:\n', 'Rules:\n\n']),
    question('prompt', 'a heading', ['Rules:', '## Rules']),
    question('prompt', 'no line break at the end', ['du Nord".\n', 'du Nord".']),
    question('prompt', 'quotes of a printer', ['"Margaux, Cave du Nord"', '\u201CMargaux, Cave du Nord\u201D']),
    question('prompt', 'a friendlier word', ['You help', 'You kindly help']),
  ]),
  meaning(
    'prompt',
    'the file is not read',
    ["readFileSync(new URL('./prompt.md', import.meta.url), 'utf8')", "'You help customers.'"],
    ["import { readFileSync } from 'node:fs'\n", ''],
  ),
  meaning('prompt', 'only its first line is read', [
    "import.meta.url), 'utf8')",
    "import.meta.url), 'utf8').split('\\n')[0]!",
  ]),
  meaning('prompt', 'facts are joined to one word', ["facts.join('; ')", "facts.join('')"]),
  meaning('prompt', 'the last fact is lost', ["asked.facts.join('; ')", "asked.facts.slice(0, -1).join('; ')"]),
  meaning('prompt', 'facts are not told', [
    "    { role: 'system', content: `What is known of the customer: ${asked.facts.join('; ')}.` },\n",
    '',
  ]),
  meaning(
    'prompt',
    'both prompts are one',
    ["    { role: 'system', content: instructions },\n", ''],
    ['content: `What is known', 'content: `${instructions}\\nWhat is known'],
  ),
  meaning(
    'prompt',
    'the prompts change places',
    ["    { role: 'system', content: instructions },\n", ''],
    ["join('; ')}.` },\n", "join('; ')}.` },\n    { role: 'system', content: instructions },\n"],
  ),
  asked('a small model', body.replace('gpt-5', 'gpt-5-mini')),
  asked('a dated model', body.replace('gpt-5', 'gpt-5-2025-08-07')),
  asked('top_p is halved', body.replace('0.9', '0.45')),
  asked('the end is limited', `${body}, max_completion_tokens: 5`),
  asked('answers are predicted', `${body}, prediction: { type: 'content', content: 'No.' }`),
  asked('no tools in parallel', `${body}, parallel_tool_calls: false`),
  asked('a tool is required', `${body}, tool_choice: 'required'`),
  asked('an answer in JSON', `${body}, response_format: { type: 'json_object' }`),
  asked('less thinking', `${body}, reasoning_effort: 'low'`),
  asked('one tool', body.replace('offered', 'offered.slice(1)')),
  meaning('tools', 'more bottles at once', ['maximum: 6', 'maximum: 600']),
  meaning('tools', 'the tool has another name', [
    "name: 'give_discount',\n      description",
    "name: 'raise_price',\n      description",
  ]),
  meaning('tools', 'strict schemas', [
    "      name: 'give_discount',\n",
    "      name: 'give_discount',\n      strict: true,\n",
  ]),
  meaning('user data', 'the order is left out', ['Order: ${JSON.stringify(order)}\\n', '']),
  meaning('user data', 'the stock is left out', ['Stock: ${JSON.stringify(stock)}\\n', '']),
  meaning(
    'user data',
    'customer and order change places',
    ['Order: ${JSON.stringify(order)}', 'Order: ${JSON.stringify(customer)}'],
    ['Customer: ${JSON.stringify(customer)}', 'Customer: ${JSON.stringify(order)}'],
  ),
  meaning('user data', 'what is asked is left out', ['\\n\\n${asked.text}`', '`']),
  meaning('user data', 'what is asked is said twice', ['\\n\\n${asked.text}`', '\\n\\n${asked.text} ${asked.text}`']),
  meaning('user data', 'broken is not broken', [
    '\\n\\n${asked.text}`',
    "\\n\\n${asked.text.replace('broken', 'fine')}`",
  ]),
  meaning('history', 'what the tool said is cut', [
    'content: JSON.stringify(result) })',
    'content: JSON.stringify(result).slice(0, 5) })',
  ]),
  meaning('history', 'what the model said is not kept', [
    '    messages.push(message)\n',
    '    messages.push({ ...message, content: "" })\n',
  ]),
  meaning('arguments', 'one bottle more', ["count: Number(args['count'])", "count: Number(args['count']) + 1"]),
  meaning('arguments', 'the count is a text', [
    "count: Number(args['count'])",
    "count: String(args['count']) as unknown as number",
  ]),
  meaning('arguments', 'the cap is lost', ["Math.min(15, Number(args['percent']))", "Number(args['percent'])"]),
  meaning('arguments', 'the cap is another one', ['Math.min(15,', 'Math.min(12.5,']),
  meaning('arguments', 'the customer instead of the order', [
    'give_discount({ order: asked.order',
    'give_discount({ order: asked.customer',
  ]),
  meaning('arguments', 'the bottle is in capitals', ["String(args['bottle'])", "String(args['bottle']).toUpperCase()"]),
  meaning('arguments', 'an argument more', [
    "bottle: String(args['bottle']),",
    "bottle: String(args['bottle']), ...{ rush: true },",
  ]),
  meaning('arguments', 'another tool', ["if (name === 'replace_bottle')", "if (name === 'replace')"]),
  meaning('tenant', 'another account', ["'cave-du-nord'", "'cave-du-sud'"]),
  meaning('tenant', 'no account', [", headers: { 'x-account-id': 'cave-du-nord' } })", ' })']),
  meaning('headers', 'written over whatever is there', [", { headers: { 'if-match': '\"v3\"' } })", ')']),
  meaning('headers', 'written over another version', ['"v3"', '"v2"']),
  meaning('headers', 'written only when nothing is there', ["'if-match': '\"v3\"'", "'if-none-match': '*'"]),
  meaning('host', 'the shop is the one for tests', [
    "`${process.env['GATEWAY']}/shop`",
    "`${process.env['GATEWAY']}/shop-test`",
  ]),
  meaning(
    'host',
    'answers go elsewhere',
    ["shop.post('/answers'", "shop.post('https://mirror.example/shop/answers'"],
    ['axios.create({ baseURL', "axios.create({ adapter: 'fetch', baseURL"],
  ),
  meaning('host', 'the model is asked at Azure', [
    "'sk-not-a-key', maxRetries",
    "'sk-not-a-key', baseURL: 'https://acme.openai.azure.com/openai/v1', maxRetries",
  ]),
  meaning('headers', 'the SDK asks for another organisation', [
    "'sk-not-a-key', maxRetries",
    "'sk-not-a-key', organization: 'org-2', maxRetries",
  ]),

  harmless('host', 'localhost instead of 127.0.0.1', [
    "`${process.env['GATEWAY']}/shop`",
    "`${process.env['GATEWAY']!.replace('127.0.0.1', 'localhost')}/shop`",
  ]),
  harmless('concurrency', 'order and customer are read one after the other', [
    'const [order, customer] = await Promise.all([read(`/orders/${asked.order}`), read(`/customers/${asked.customer}`)])',
    'const order = await read(`/orders/${asked.order}`)\n  const customer = await read(`/customers/${asked.customer}`)',
  ]),
  harmless('concurrency', 'customer and order are read in the other order', [
    'const [order, customer] = await Promise.all([read(`/orders/${asked.order}`), read(`/customers/${asked.customer}`)])',
    'const [customer, order] = await Promise.all([read(`/customers/${asked.customer}`), read(`/orders/${asked.order}`)])',
  ]),
  harmless('concurrency', 'stock and delays are read at once', [
    reads,
    "  const [stock, delays] = await Promise.all([read('/stock'), read('/delays')])\n",
  ]),
  harmless('streaming', 'the answer is wanted as a whole', [
    whole,
    `const completion = await client.chat.completions.create({ ${body} })\n`,
  ]),
  harmless('SDK', 'the stream is read and then asked', [
    'const completion = await stream.finalChatCompletion()',
    'for await (const _chunk of stream) void _chunk\n    const completion = await stream.finalChatCompletion()',
  ]),
  harmless('streaming', 'the response is asked for as well, as a whole', [
    whole,
    `const { data: completion } = await client.chat.completions.create({ ${body} }).withResponse()\n`,
  ]),
  harmless('SDK', 'another client of the same SDK', ['client.chat', 'client.withOptions({ timeout: 90_000 }).chat']),
  harmless('SDK', 'the request of axios is spelled out', [
    'await shop.get<unknown>(path)',
    "await shop.request<unknown>({ method: 'GET', url: path })",
  ]),
  harmless(
    'spelling',
    'the question is one part',
    ['      content: `Order', "      content: [{ type: 'text', text: `Order"],
    ['${asked.text}`,', '${asked.text}` }],'],
  ),
  harmless('spelling', 'the default of tools is said', [body, `${body}, tool_choice: 'auto'`]),
  harmless('bookkeeping', 'the end user is named', [
    body,
    `${body}, safety_identifier: asked.customer, prompt_cache_key: 'orders'`,
  ]),
  harmless('SDK', 'requests have a time limit', ['maxRetries: 0', 'maxRetries: 0, timeout: 60_000']),
  harmless('SDK', 'retries are allowed', ['maxRetries: 0', 'maxRetries: 2']),
  question('params', 'top_p is a little higher', ['top_p: 0.9', 'top_p: 0.95']),
  question('tools', 'the tools in another order', ['tools: offered', 'tools: offered.toReversed()']),
  question('tools', 'a description of an argument', [
    "percent: { type: 'number' }",
    "percent: { type: 'number', description: 'Such as 10' }",
  ]),
]
