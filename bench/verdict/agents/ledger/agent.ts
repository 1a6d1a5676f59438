// Books payments: what a request means stands in its headers as much as in its body.
interface Payment {
  readonly id: string
  readonly from: string
  readonly to: string
  readonly cents: number
  readonly reference: string
}

const bank = 'https://bank.example/v2'
const archive = 'https://archive.bank.example'
const table = 'https://dynamodb.eu-west-1.amazonaws.com/'
const token = process.env['BANK_TOKEN'] ?? 'bank-not-a-token'
const auditToken = process.env['AUDIT_TOKEN'] ?? 'audit-not-a-token'

const instructions =
  'You check payments before they are booked. Say BOOK or HOLD. Hold payments above 10000 EUR, and payments to Belize. Do not hold salaries.'

/** Reads the account, asks the model, books, and keeps a copy. */
export async function agent(payment: Payment): Promise<string> {
  const account = await call(`${bank}/accounts/${payment.from}?currency=EUR&details=full`, {
    headers: { accept: 'application/vnd.bank.v2+json', 'accept-language': 'en-GB' },
  })
  const { etag, balance } = (await account.json()) as { etag: string; balance: number }
  const statement = await call(`${archive}/statements/2026-03.csv`, { headers: { range: 'bytes=0-1023' } })
  const lines = ((await statement.json()) as { lines: number }).lines
  const verdict = await judge(payment, balance, lines)
  if (verdict.includes('BOOK')) {
    const booked = await call(`${bank}/payments`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'idempotency-key': `pay-${payment.id}`,
        'if-match': etag,
        prefer: 'respond-async',
        'x-on-behalf-of': payment.from,
      },
      body: JSON.stringify({ to: payment.to, cents: payment.cents, reference: payment.reference }),
    })
    const { receipt } = (await booked.json()) as { receipt: string }
    await call(`${bank}/receipts/${receipt}`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json', 'idempotency-key': `receipt-${payment.id}`, 'if-none-match': '*' },
      body: JSON.stringify({ payment: payment.id, state: 'booked' }),
    })
  }
  await call(
    table,
    {
      method: 'POST',
      headers: { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': 'DynamoDB_20120810.PutItem' },
      body: JSON.stringify({ TableName: 'audit', Item: { id: { S: payment.id }, verdict: { S: verdict } } }),
    },
    auditToken,
  )
  return verdict
}

async function judge(payment: Payment, balance: number, lines: number): Promise<string> {
  const response = await fetch('https://api.mistral.ai/v1/chat/completions', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${process.env['MISTRAL_API_KEY'] ?? 'not-a-key'}`,
    },
    body: JSON.stringify({
      model: 'mistral-large-latest',
      temperature: 0.1,
      messages: [
        { role: 'system', content: instructions },
        {
          role: 'user',
          content: `Pay ${payment.cents / 100} EUR to ${payment.to} (${payment.reference}). Balance ${balance}, ${lines} bookings this month.`,
        },
      ],
    }),
  })
  if (!response.ok) throw new Error(`model: ${response.status}`)
  const { choices } = (await response.json()) as { choices: [{ message: { content: string } }] }
  return choices[0].message.content
}

async function call(url: string, init: RequestInit, key = token): Promise<Response> {
  const response = await fetch(url, {
    ...init,
    headers: {
      authorization: `Bearer ${key}`,
      'x-bank-account': 'nordlicht-main',
      cookie: 'session=s-17',
      ...init.headers,
    },
  })
  if (!response.ok) throw new Error(`${url}: ${response.status}`)
  return response
}
