import { type Edit, harmless, meaning, question } from '../../edits.ts'
import type { Text } from '../../operators.ts'

export const of = 'plain fetch to Mistral; services with preconditions, ranges, targets, cookies and two identities'

export const texts: readonly Text[] = [
  {
    of: 'prompt',
    text: 'You check payments before they are booked. Say BOOK or HOLD. Hold payments above 10000 EUR, and payments to Belize. Do not hold salaries.',
    swaps: [
      ['Belize', 'Brazil'],
      ['Do not hold', 'Hold'],
      ['salaries', 'refunds'],
      ['BOOK or HOLD', 'HOLD or BOOK'],
      [', and payments to Belize', ''],
    ],
    translated:
      'Controlli i pagamenti prima che siano registrati. Rispondi BOOK o HOLD. Blocca i pagamenti sopra 10000 EUR e quelli verso il Belize. Non bloccare gli stipendi.',
    reworded: [
      'You check payments before they are booked. Say BOOK or HOLD. Hold payments of more than 10000 EUR, and payments to Belize. Do not hold salaries.',
    ],
  },
]

const opened = "      authorization: `Bearer ${process.env['MISTRAL_API_KEY'] ?? 'not-a-key'}`,\n"
const line = '      temperature: 0.1,\n'
const more = (name: string, setting: string) => meaning('params', name, [line, `${line}      ${setting},\n`])

export const edits: readonly Edit[] = [
  meaning('headers', 'another version of the account', [
    'application/vnd.bank.v2+json',
    'application/vnd.bank.v1+json',
  ]),
  meaning('headers', 'any form of the account', ["accept: 'application/vnd.bank.v2+json', ", '']),
  meaning('headers', 'another language', ["'en-GB'", "'de-DE'"]),
  meaning('headers', 'no language', [", 'accept-language': 'en-GB'", '']),
  meaning('headers', 'another part of the statement', ['bytes=0-1023', 'bytes=1024-2047']),
  meaning('headers', 'less of the statement', ['bytes=0-1023', 'bytes=0-102']),
  meaning('headers', 'all of the statement', ["{ headers: { range: 'bytes=0-1023' } }", '{}']),
  meaning('guard', 'booked over whatever is there', ["        'if-match': etag,\n", '']),
  meaning('guard', 'booked over any version', ["'if-match': etag", "'if-match': '*'"]),
  meaning('guard', 'booked over another version', ["'if-match': etag", "'if-match': etag.replace('41', '40')"]),
  meaning('guard', 'booked by a day', ["'if-match': etag", "'if-unmodified-since': 'Sun, 01 Mar 2026 00:00:00 GMT'"]),
  meaning('guard', 'a receipt is overwritten', [", 'if-none-match': '*' }", ' }']),
  meaning('guard', 'a receipt is only overwritten', ["'if-none-match': '*'", "'if-match': '*'"]),
  meaning('guard', 'the item is deleted', ['DynamoDB_20120810.PutItem', 'DynamoDB_20120810.DeleteItem']),
  meaning('guard', 'the target is another version', ['DynamoDB_20120810', 'DynamoDB_20111205']),
  meaning('guard', 'no target', [", 'x-amz-target': 'DynamoDB_20120810.PutItem'", '']),
  meaning('idempotency', 'no key', ["        'idempotency-key': `pay-${payment.id}`,\n", '']),
  meaning('idempotency', 'one key for both', ['`receipt-${payment.id}`', '`pay-${payment.id}`']),
  meaning('idempotency', 'no key for the receipt', ["'idempotency-key': `receipt-${payment.id}`, ", '']),
  meaning('headers', 'it waits for the booking', ['respond-async', 'wait=100']),
  meaning('headers', 'no preference', ["        prefer: 'respond-async',\n", '']),
  meaning('headers', 'another form of the item', ['application/x-amz-json-1.0', 'application/x-amz-json-1.1']),
  meaning('headers', 'the payment is a form', [
    "        'content-type': 'application/json',\n        'idempotency-key': `pay",
    "        'content-type': 'application/x-www-form-urlencoded',\n        'idempotency-key': `pay",
  ]),
  meaning('tenant', 'on behalf of somebody else', ["'x-on-behalf-of': payment.from", "'x-on-behalf-of': 'A-2'"]),
  meaning('tenant', 'on behalf of nobody', ["        'x-on-behalf-of': payment.from,\n", '']),
  meaning('tenant', 'another account', ["'nordlicht-main'", "'nordlicht-test'"]),
  meaning('tenant', 'no account', ["      'x-bank-account': 'nordlicht-main',\n", '']),
  meaning('credentials', 'without credentials', ['      authorization: `Bearer ${key}`,\n', '']),
  meaning('credentials', 'another scheme', ['`Bearer ${key}`', '`Basic ${key}`']),
  meaning('credentials', 'the audit under the same identity', ['    auditToken,\n', '']),
  meaning('credentials', 'everything under the identity of the audit', ['key = token)', 'key = auditToken)']),
  meaning('credentials', 'reads under the identity of the audit', [
    "    headers: { accept: 'application/vnd.bank.v2+json', 'accept-language': 'en-GB' },\n  })",
    "    headers: { accept: 'application/vnd.bank.v2+json', 'accept-language': 'en-GB' },\n  }, auditToken)",
  ]),
  meaning('credentials', 'the booking without credentials', [
    "        prefer: 'respond-async',",
    "        authorization: '',\n        prefer: 'respond-async',",
  ]),
  meaning('credentials', 'no cookie', [" cookie: 'session=s-17',", '']),
  meaning('credentials', 'a key in another header', ['authorization: `Bearer ${key}`', "'x-api-key': key"]),
  meaning('credentials', 'the model is asked without a key', [opened, '']),
  meaning('host', 'booked at another bank', ['https://bank.example', 'https://bank-sandbox.example']),
  meaning('host', 'another archive', ['https://archive.bank.example', 'https://archive-2025.bank.example']),
  meaning('host', 'another region of the table', ['eu-west-1', 'us-east-1']),
  meaning('host', 'another version of the bank', ['bank.example/v2', 'bank.example/v1']),
  meaning('host', 'payments are booked elsewhere', [
    'call(`${bank}/payments`',
    'call(`https://shadow.bank.example/v2/payments`',
  ]),
  meaning('host', 'the account is read elsewhere', [
    'call(`${bank}/accounts',
    'call(`https://replica.bank.example/v2/accounts',
  ]),
  meaning('host', 'the model is asked elsewhere', ['https://api.mistral.ai', 'https://api.groq.com/openai']),
  meaning('arguments', 'another currency', ['?currency=EUR', '?currency=NOK']),
  meaning('arguments', 'fewer details', ['&details=full', '']),
  meaning('arguments', 'another month', ['2026-03.csv', '2026-02.csv']),
  meaning('arguments', 'ten times as much', ['cents: payment.cents,', 'cents: payment.cents * 10,']),
  meaning('arguments', 'one cent more', ['cents: payment.cents,', 'cents: payment.cents + 1,']),
  meaning('arguments', 'cents are a text', ['cents: payment.cents,', 'cents: String(payment.cents),']),
  meaning('arguments', 'another reference', [
    'reference: payment.reference }',
    "reference: payment.reference.replace('March', 'May') }",
  ]),
  meaning('arguments', 'no reference', [', reference: payment.reference }', ' }']),
  meaning('arguments', 'the receipt says that it is open', ["state: 'booked'", "state: 'open'"]),
  meaning('arguments', 'another table', ["TableName: 'audit'", "TableName: 'audit_2'"]),
  meaning('arguments', 'the verdict is not kept', [', verdict: { S: verdict }', '']),
  meaning('arguments', 'the payment is created by its id', [
    'call(`${bank}/payments`',
    'call(`${bank}/payments/${payment.id}`',
  ]),
  meaning('arguments', 'never booked', ["verdict.includes('BOOK')", "verdict.includes('BOOKED')"]),
  meaning('model', 'a small model', ['mistral-large-latest', 'mistral-small-latest']),
  meaning('model', 'a dated model', ['mistral-large-latest', 'mistral-large-2411']),
  more('JSON', "response_format: { type: 'json_object' }"),
  more('cut off', 'max_tokens: 2'),
  more('a safe prompt', 'safe_prompt: true'),
  more('a seed of chance', 'random_seed: 5'),
  meaning('params', 'hot', ['temperature: 0.1', 'temperature: 1.4']),
  meaning('prompt', 'none', ["        { role: 'system', content: instructions },\n", '']),
  meaning('prompt', 'as developer, whom this provider does not know', [
    "role: 'system', content",
    "role: 'developer', content",
  ]),
  meaning('user data', 'in cents', ['${payment.cents / 100} EUR', '${payment.cents} EUR']),
  meaning('user data', 'no reference', [' (${payment.reference})', '']),
  meaning('user data', 'no balance', [' Balance ${balance}, ${lines} bookings this month.', '']),
  meaning('user data', 'balance and bookings change places', [
    'Balance ${balance}, ${lines} bookings',
    'Balance ${lines}, ${balance} bookings',
  ]),
  meaning('user data', 'another receiver', ['EUR to ${payment.to} (', "EUR to ${payment.to.replace('Moe', 'Mo')} ("]),
  meaning('user data', 'received, not paid', ['`Pay ${payment.cents / 100}', '`Received ${payment.cents / 100}']),

  harmless('credentials', 'a new token for the bank', ["'bank-not-a-token'", "'bank-not-a-token-of-may'"]),
  harmless(
    'credentials',
    'new tokens for both',
    ["'bank-not-a-token'", "'bank-token-2'"],
    ["'audit-not-a-token'", "'audit-token-2'"],
  ),
  harmless('spelling', 'the query in another order', ['?currency=EUR&details=full', '?details=full&currency=EUR']),
  harmless('spelling', 'headers in capitals', ["'if-match': etag", "'If-Match': etag"]),
  harmless('spelling', 'the bodies in another order', [
    '{ to: payment.to, cents: payment.cents, reference: payment.reference }',
    '{ reference: payment.reference, cents: payment.cents, to: payment.to }',
  ]),
  harmless('spelling', 'the item is indented', [
    'verdict: { S: verdict } } }),',
    'verdict: { S: verdict } } }, null, 2),',
  ]),
  harmless('spelling', 'a default is said', [line, `${line}      stream: false,\n      n: 1,\n`]),
  harmless('headers', 'the bank is told who asks', [
    "cookie: 'session=s-17',",
    "cookie: 'session=s-17', 'user-agent': 'ledger/4',",
  ]),
  harmless('headers', 'requests are traced', [
    "cookie: 'session=s-17',",
    "cookie: 'session=s-17', traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',",
  ]),
  harmless('refactoring', 'headers are an object of their own', [
    '{ headers: { range: ',
    '{ headers: { ...({} as object), range: ',
  ]),
  harmless('refactoring', 'a request is made first', [
    "await fetch('https://api.mistral.ai/v1/chat/completions', {",
    "await fetch(new URL('/v1/chat/completions', 'https://api.mistral.ai'), {",
  ]),
  harmless(
    'concurrency',
    'the statement is read at the same time',
    [
      "  const statement = await call(`${archive}/statements/2026-03.csv`, { headers: { range: 'bytes=0-1023' } })\n",
      '',
    ],
    [
      '  const account = await call(`${bank}/accounts/${payment.from}?currency=EUR&details=full`, {',
      "  const [statement, account] = await Promise.all([call(`${archive}/statements/2026-03.csv`, { headers: { range: 'bytes=0-1023' } }), call(`${bank}/accounts/${payment.from}?currency=EUR&details=full`, {",
    ],
    ["'accept-language': 'en-GB' },\n  })\n", "'accept-language': 'en-GB' },\n  })])\n"],
  ),
  question('params', 'a little cooler', ['temperature: 0.1', 'temperature: 0']),
  question('messages', 'a colon', ['Balance ${balance}, ', 'Balance: ${balance}, ']),
  question('messages', 'a line', ['). Balance', ').\\nBalance']),
]
