import { type Edit, harmless, meaning, question } from '../../edits.ts'
import type { Text } from '../../operators.ts'

export const of =
  'the SDK of OpenAI, responses; addresses, accounts and a card in the code, which a tape holds redacted'

export const texts: readonly Text[] = [
  {
    of: 'prompt',
    text: 'You write reminders for Nordlicht. Answers go to reminders@nordlicht.example. Be polite. Never threaten.',
    swaps: [
      ['polite', 'brief'],
      ['reminders@nordlicht', 'claims@nordlicht'],
      ['nordlicht.example', 'nordwind.example'],
    ],
    translated:
      'Du schreibst Mahnungen für Nordlicht. Antworten gehen an reminders@nordlicht.example. Sei höflich. Drohe nie.',
    reworded: [
      'You write reminders on behalf of Nordlicht. Answers go to reminders@nordlicht.example. Be polite. Never threaten.',
    ],
  },
]

export const edits: readonly Edit[] = [
  meaning('redacted', 'another accountant, everywhere', [
    'grete.lund@nordlicht.example',
    'greta.lund@nordlicht.example',
  ]),
  meaning('redacted', 'the accountant of another house, everywhere', [
    'grete.lund@nordlicht.example',
    'grete.lund@nordwind.example',
  ]),
  meaning('redacted', 'another auditor, everywhere', ['audit@kontrolle.example', 'audit@kontrole.example']),
  meaning('redacted', 'the auditor at a look-alike', ['audit@kontrolle.example', 'audlt@kontrolle.example']),
  meaning('redacted', 'another account, everywhere', ['DE89370400440532013000', 'DE02120300000000202051']),
  meaning('redacted', 'another card', ['4111 1111 1111 1111', '5555 5555 5555 4444']),
  meaning('redacted', 'the account is no account', ['DE89370400440532013000', 'upon request']),
  meaning('redacted', 'both are the accountant', [
    "const auditor = 'audit@kontrolle.example'",
    'const auditor = accountant',
  ]),
  meaning('redacted', 'the mail goes to somebody else', ['to: accountant, cc', "to: 'mallory@evil.example', cc"]),
  meaning('redacted', 'the mail goes to the auditor', ['to: accountant, cc: auditor', 'to: auditor, cc: accountant']),
  meaning('redacted', 'the copy goes to somebody else', [
    'cc: auditor, subject',
    "cc: 'press@zeitung.example', subject",
  ]),
  meaning('redacted', 'the copy goes to the accountant', ['cc: auditor, subject', 'cc: accountant, subject']),
  meaning('redacted', 'another card is charged', [
    'charge({ card, amount',
    "charge({ card: '5555 5555 5555 4444', amount",
  ]),
  meaning('redacted', 'the model is told another account', ['Pay to ${account}.', 'Pay to DE02120300000000202051.']),
  meaning('redacted', 'the model is told another contact', [
    'Questions: ${accountant}.',
    'Questions: mallory@evil.example.',
  ]),
  meaning('redacted', 'the model is told the auditor', ['Questions: ${accountant}.', 'Questions: ${auditor}.']),
  meaning('redacted', 'the message names somebody else', ['contact: auditor }', "contact: 'mallory@evil.example' }"]),
  meaning('redacted', 'the message names the accountant', ['contact: auditor }', 'contact: accountant }']),
  meaning('redacted', 'the books are told another person', [
    'by: accountant, copies',
    "by: 'mallory@evil.example', copies",
  ]),
  meaning('redacted', 'the books are told another account', ['iban: account }', "iban: 'DE02120300000000202051' }"]),
  meaning('redacted', 'the books are told another copy', ['copies: [auditor]', "copies: ['press@zeitung.example']"]),
  meaning('redacted', 'the books are told a copy more', ['copies: [auditor]', 'copies: [auditor, accountant]']),
  meaning('redacted', 'the books are told no copy', ['copies: [auditor]', 'copies: []']),
  meaning('arguments', 'another subject', ['`Reminder ${invoice.number}`', '`Last reminder ${invoice.number}`']),
  meaning('arguments', 'another amount', ['amount: invoice.total }', 'amount: invoice.total * 10 }']),
  meaning('arguments', 'no text', [
    'subject: `Reminder ${invoice.number}`, text })',
    "subject: `Reminder ${invoice.number}`, text: '' })",
  ]),
  meaning('arguments', 'a mail more', [
    '  await mail.charge',
    "  await mail.send_mail({ to: auditor, cc: accountant, subject: 'Copy', text })\n  await mail.charge",
  ]),
  meaning('arguments', 'nothing is charged', ['  await mail.charge({ card, amount: invoice.total })\n', '']),
  meaning(
    'arguments',
    'charged before it is told',
    ['  await mail.charge({ card, amount: invoice.total })\n', ''],
    ['  await mail.send_mail', '  await mail.charge({ card, amount: invoice.total })\n  await mail.send_mail'],
  ),
  meaning('message', 'to another', ["message('notify', 'auditor'", "message('notify', 'press'"]),
  meaning('message', 'about another invoice', [
    '{ about: invoice.number',
    "{ about: invoice.number.replace('41', '42')",
  ]),
  meaning('model', 'a large model', ["'gpt-5-mini'", "'gpt-5'"]),
  meaning('prompt', 'none', ['    instructions,\n', '']),
  meaning('user data', 'no account', [' Pay to ${account}.', '']),
  meaning('user data', 'another currency', ['${invoice.total} EUR', '${invoice.total} USD']),
  meaning('user data', 'another day', ['due ${invoice.due}', "due ${invoice.due.replace('15', '25')}"]),
  meaning('user data', 'not due', [', due ${invoice.due}', ', not due']),
  meaning('credentials', 'none', [
    "      authorization: `Bearer ${process.env['BOOKS_TOKEN'] ?? 'books-not-a-token'}`,\n",
    '',
  ]),
  meaning('credentials', 'another scheme', [
    "`Bearer ${process.env['BOOKS_TOKEN']",
    "`Token ${process.env['BOOKS_TOKEN']",
  ]),
  meaning('host', 'other books', ['https://books.nordlicht', 'https://books.nordwind']),

  harmless('refactoring', 'the address is put together', [
    "'grete.lund@nordlicht.example'",
    "['grete.lund', 'nordlicht.example'].join('@')",
  ]),
  harmless('refactoring', 'the account is put together', ["'DE89370400440532013000'", "'DE89' + '370400440532013000'"]),
  harmless('refactoring', 'the addresses are in one list', [
    "const auditor = 'audit@kontrolle.example'",
    "const [auditor] = ['audit@kontrolle.example'] as const",
  ]),
  harmless('credentials', 'another key', ["'books-not-a-token'", "'books-not-a-token-of-may'"]),
  harmless('spelling', 'the question is a text of one part', [
    '        content: `Invoice ${invoice.number} of ${invoice.total} EUR, due ${invoice.due}. Pay to ${account}. Questions: ${accountant}.`,',
    "        content: [{ type: 'input_text', text: `Invoice ${invoice.number} of ${invoice.total} EUR, due ${invoice.due}. Pay to ${account}. Questions: ${accountant}.` }],",
  ]),
  harmless(
    'spelling',
    'the input is a text',
    ["    input: [\n      {\n        role: 'user',\n        content: `Invoice", '    input: `Invoice'],
    ['${accountant}.`,\n      },\n    ],', '${accountant}.`,'],
  ),
  harmless('spelling', 'the body in another order', [
    '{ invoice: invoice.number, by: accountant, copies: [auditor], iban: account }',
    '{ iban: account, copies: [auditor], by: accountant, invoice: invoice.number }',
  ]),
  harmless(
    'streaming',
    'wanted as a whole',
    ['const stream = client.responses.stream({', 'const response = await client.responses.create({'],
    ['  const response = await stream.finalResponse()\n', ''],
  ),
  harmless('bookkeeping', 'metadata', [
    "    model: 'gpt-5-mini',\n",
    "    model: 'gpt-5-mini',\n    metadata: { invoice: invoice.number },\n    store: true,\n",
  ]),
  question('params', 'a limit that is never met', [
    "    model: 'gpt-5-mini',\n",
    "    model: 'gpt-5-mini',\n    max_output_tokens: 4_000,\n",
  ]),
  question('messages', 'a comma less', ['EUR, due', 'EUR due']),
  question('messages', 'two spaces', ['. Pay to', '.  Pay to']),
]
