import { benign, type Edit, regression } from '../../edits.ts'

export const edits: readonly Edit[] = [
  regression('the last page is left out', ['    page = next\n', '    page = next === 3 ? null : next\n']),
  regression('paging begins at the second page', ['let page: number | null = 1', 'let page: number | null = 2']),
  regression('the month is taken in UTC', [
    'const month = job.asOf.slice(0, 7)',
    'const month = new Date(job.asOf).toISOString().slice(0, 7)',
  ]),
  regression('failed requests are not tried again', ['const attempts = 3', 'const attempts = 1']),
  regression('each attempt draws its own idempotency key', [
    '  const key = crypto.randomUUID()\n  for (let attempt = 1; ; attempt++) {\n',
    '  for (let attempt = 1; ; attempt++) {\n    const key = crypto.randomUUID()\n',
  ]),
  regression('the idempotency key is not sent any more', [", 'idempotency-key': key }", ' }']),
  regression('all invoices are credited, not the disputed ones', ['all.filter(({ disputed }) => disputed)', 'all']),
  regression('the filter by customer is lost', ['?customer=${customer}&month=', '?month=']),
  regression('amounts are sent as text', [
    'const { customer, amount, currency } = args\n',
    "const { customer, currency } = args\n      const amount = String(args['amount'])\n",
  ]),
  regression('credits are always in euros', [
    '{ customer, amount, currency })',
    "{ customer, amount, currency: 'EUR' })",
  ]),
  regression('a failed request counts as an empty page', [
    '    if (response.ok) return response.json()\n',
    '    if (response.status === 503) return { items: [], next: null }\n    if (response.ok) return response.json()\n',
  ]),
  regression('the notification is not awaited', [
    "return request('POST', '/notifications', { customer: args['customer'], text: args['text'] })",
    "{\n      void sleep(5).then(() => request('POST', '/notifications', { customer: args['customer'], text: args['text'] }))\n      return { ok: true }\n    }",
  ]),
  benign('the wait between attempts is longer', ['sleep(10 * attempt)', 'sleep(15 * attempt)']),
  benign('one more attempt is allowed', ['const attempts = 3', 'const attempts = 4']),
  benign(
    'the pages are read by a generator',
    [
      '  const all: Invoice[] = []\n  let page: number | null = 1',
      '  const all: Invoice[] = await Array.fromAsync(pages())\n  return { disputed: all.filter(({ disputed }) => disputed) }\n\n  async function* pages(): AsyncGenerator<Invoice> {\n  let page: number | null = 1',
    ],
    ['    all.push(...items)', '    yield* items'],
    ['  return { disputed: all.filter(({ disputed }) => disputed) }\n}', '  }\n}'],
  ),
  benign('the instructions have other white space', [
    "'You settle disputes. Credit only what is disputed, then notify the customer.'",
    "'You settle disputes.\\n\\nCredit only what is disputed,\\nthen notify the customer.\\n'",
  ]),
  benign('the schema of the tools says more', [
    "{ type: 'object', properties: {}, additionalProperties: true }",
    "{ additionalProperties: true, properties: { customer: { type: 'string' } }, type: 'object', description: 'Arguments' }",
  ]),
  benign('services hear which version asks', [
    "'content-type': 'application/json', 'idem",
    "'content-type': 'application/json', 'x-client-version': '2', 'idem",
  ]),
  benign(
    'requests are counted',
    ['const attempts = 3', 'const attempts = 3\nexport const metrics = { requests: 0 }'],
    [
      '    if (response.ok) return response.json()',
      '    metrics.requests++\n    if (response.ok) return response.json()',
    ],
  ),
  benign('the body has its keys in another order', [
    '{ customer, amount, currency })',
    '{ currency, amount, customer })',
  ]),
  benign('the user message is worded anew', [
    '`Credit what customer ${job.customer} disputes in ${month}, in ${job.currency}.`',
    '`Please find out what customer ${job.customer} disputes in ${month}, in ${job.currency}, and credit it.`',
  ]),
  benign('a client of its own per run', [
    '  let credits = 0\n',
    "  let credits = 0\n  const client = new OpenAI({ baseURL: `${gateway}/v1`, apiKey: process.env['OPENAI_API_KEY'] ?? 'sk-not-a-key' })\n",
  ]),
]
