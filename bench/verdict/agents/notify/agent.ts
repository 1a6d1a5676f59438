// Tells people about an invoice: addresses, accounts and a card stand in its own code, and none of them on a tape.
import OpenAI from 'openai'
import { message, tools } from '../../../../src/record/index.ts'

interface Invoice {
  readonly number: string
  readonly total: number
  readonly due: string
}

const client = new OpenAI({ apiKey: process.env['OPENAI_API_KEY'] ?? 'sk-not-a-key', maxRetries: 0 })

const accountant = 'grete.lund@nordlicht.example'
const auditor = 'audit@kontrolle.example'
const account = 'DE89370400440532013000'
const card = '4111 1111 1111 1111'

const instructions = `You write reminders for Nordlicht. Answers go to reminders@nordlicht.example. Be polite. Never threaten.`

const mail = tools({
  send_mail: async (_mail: { to: string; cc: string; subject: string; text: string }) => ({ sent: true }),
  charge: async (_charge: { card: string; amount: number }) => ({ charged: true }),
})

/** Writes a reminder and sends it. */
export async function agent(invoice: Invoice): Promise<string> {
  const stream = client.responses.stream({
    model: 'gpt-5-mini',
    instructions,
    input: [
      {
        role: 'user',
        content: `Invoice ${invoice.number} of ${invoice.total} EUR, due ${invoice.due}. Pay to ${account}. Questions: ${accountant}.`,
      },
    ],
  })
  const response = await stream.finalResponse()
  const text = response.output_text
  await mail.send_mail({ to: accountant, cc: auditor, subject: `Reminder ${invoice.number}`, text })
  await mail.charge({ card, amount: invoice.total })
  message('notify', 'auditor', { about: invoice.number, contact: auditor })
  const booked = await fetch('https://books.nordlicht.example/v1/reminders', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${process.env['BOOKS_TOKEN'] ?? 'books-not-a-token'}`,
    },
    body: JSON.stringify({ invoice: invoice.number, by: accountant, copies: [auditor], iban: account }),
  })
  if (!booked.ok) throw new Error(`books: ${booked.status}`)
  return text
}
