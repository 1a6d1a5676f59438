import { benign, type Edit, regression } from '../../edits.ts'

export const edits: readonly Edit[] = [
  regression('only the first tool of a turn runs', [
    'messages.push(...(await Promise.all(calls.map(runTool))))',
    'message.tool_calls = calls.slice(0, 1)\n    messages.push(...(await Promise.all(calls.slice(0, 1).map(runTool))))',
  ]),
  regression('the policy is not offered any more', [
    "'lookup_order', 'refund_policy', 'refund'].",
    "'lookup_order', 'refund'].",
  ]),
  regression('the guard on the amount is lost', [
    '        if (amount > order.total) return { error: `more than the total of ${order.total}` }\n',
    '',
  ]),
  regression('the guard caps silently instead of refusing', [
    'if (amount > order.total) return { error: `more than the total of ${order.total}` }',
    'if (amount > order.total) return shop.refund({ order_id: order.order_id, amount: order.total, currency: order.currency })',
  ]),
  regression('refunds are booked in dollars', ['amount, currency: order.currency })', "amount, currency: 'USD' })"]),
  regression('amounts are rounded to whole euros', [
    "const amount = Number(args['amount'])",
    "const amount = Math.round(Number(args['amount']))",
  ]),
  regression('the ticket is closed before the customer is told', [
    "      await shop.send_email({ to: ticket.email, subject: `Your ticket ${ticket.id}`, text: answer })\n      await shop.close_ticket({ ticket_id: ticket.id, resolution: refunded > 0 ? 'refunded' : 'declined' })",
    "      await shop.close_ticket({ ticket_id: ticket.id, resolution: refunded > 0 ? 'refunded' : 'declined' })\n      await shop.send_email({ to: ticket.email, subject: `Your ticket ${ticket.id}`, text: answer })",
  ]),
  regression('the mail goes to the ticket, not to the customer', [
    'to: ticket.email',
    'to: `${ticket.id}@example.com`',
  ]),
  regression('the resolution takes the wrong branch', ['refunded > 0 ?', 'refunded > 100 ?']),
  regression('the refund has an argument more', [
    'amount, currency: order.currency })\n        refunded',
    'amount, currency: order.currency, note: ticket.text })\n        refunded',
  ]),
  regression('the order is looked up in the background', [
    'const order = (await shop.lookup_order(args)) as Order\n        orders.set(order.order_id, order)\n        return order\n',
    "void shop.lookup_order(args).then((order) => orders.set((order as Order).order_id, order as Order))\n        return { order_id: args['order_id'], status: 'looking' }\n",
  ]),
  regression('a refund is booked twice', [
    'const done = await shop.refund(',
    'await shop.refund({ order_id: order.order_id, amount, currency: order.currency })\n        const done = await shop.refund(',
  ]),
  regression('the new instructions make the model generous', [
    'Look the order up before you refund anything.',
    'Be generous: give customers what the order was worth.',
  ]),
  benign('the instructions are worded anew', [
    "'You are the refund desk of a shop. Look the order up before you refund anything.'",
    "'You work at the refund desk of a shop. Before any refund, look up the order.'",
  ]),
  benign(
    'variables are renamed',
    ['const orders = new Map', 'const known = new Map'],
    ['orders.set(order.order_id, order)', 'known.set(order.order_id, order)'],
    ["const order = orders.get(String(args['order_id']))", "const order = known.get(String(args['order_id']))"],
  ),
  benign('calls are logged', [
    'const args = JSON.parse(call.function.arguments) as Args\n',
    'const args = JSON.parse(call.function.arguments) as Args\n    console.log(`${ticket.id} ${call.function.name}`)\n',
  ]),
  benign('the descriptions of tools are written anew', [
    '`Tool of the shop: ${name}`',
    '`${name.replaceAll("_", " ")} (shop)`',
  ]),
  benign('the two lookups start in the other order', [
    'messages.push(...(await Promise.all(calls.map(runTool))))',
    'const results = await Promise.all(calls.toReversed().map(runTool))\n    messages.push(...results.toReversed())',
  ]),
  benign('the answer is not streamed any more', [
    "const stream = client.chat.completions.stream({ model: 'gpt-5', messages, tools: offered })\n    const { message } = (await stream.finalChatCompletion()).choices[0]!",
    "const completion = await client.chat.completions.create({ model: 'gpt-5', messages, tools: offered })\n    const { message } = completion.choices[0]!",
  ]),
  benign('the client names the service it belongs to', [
    "?? 'sk-not-a-key' })",
    "?? 'sk-not-a-key', defaultHeaders: { 'user-agent': 'refund-desk/2.1', 'x-service': 'refund-desk' } })",
  ]),
  benign('the temperature is set', [
    "model: 'gpt-5', messages, tools: offered",
    "model: 'gpt-5', temperature: 0, messages, tools: offered",
  ]),
  benign('an optional field is added, without a value', [
    'text: answer })',
    'text: answer, ...({ cc: undefined } as object) })',
  ]),
  benign(
    'the loop is a recursion',
    [
      '  for (let turn = 0; turn < 8; turn++) {\n    const stream',
      '  return step(0)\n\n  async function step(turn: number): Promise<{ readonly answer: string; readonly refunded: number }> {\n    if (turn === 8) throw new Error("no answer after 8 turns")\n    const stream',
    ],
    [
      "    messages.push(...(await Promise.all(calls.map(runTool))))\n  }\n  throw new Error('no answer after 8 turns')",
      '    messages.push(...(await Promise.all(calls.map(runTool))))\n    return step(turn + 1)\n  }',
    ],
  ),
]
