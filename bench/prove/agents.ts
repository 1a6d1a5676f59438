import { type Subject, subjects } from '../catch/agents/index.ts'
import { benign, type Edit } from '../catch/edits.ts'

/** An agent of the bench of misses, as it is recorded and as it is after a harmless edit of its prompt. */
export interface ProvedAgent {
  readonly subject: Subject
  /** What every version of it has: the tools that end a run answer for themselves, so that any ending can be judged. */
  readonly tooled?: Edit
  readonly reworded: Edit
}

/**
 * Six agents, each with another SDK. Where declining asks a service for what no tape has, that service is a wrapped
 * function with `replay: 'run'` instead.
 */
export const provedAgents: readonly ProvedAgent[] = [
  of(
    'refund',
    benign('the order is looked up at once', ['Look the order up before', 'Always look the order up before']),
    benign(
      'mails and tickets answer for themselves',
      [
        "  send_email: async ({ to, subject, text }: Args) => post('/emails', { to, subject, text }),\n  close_ticket: async ({ ticket_id, resolution }: Args) => post('/tickets/close', { ticket_id, resolution }),\n})\n",
        "})\n\nconst ending = tools(\n  { send_email: async (_: Args) => ({ ok: true }), close_ticket: async (_: Args) => ({ ok: true }) },\n  { replay: 'run' },\n)\n",
      ],
      ['shop.send_email', 'ending.send_email'],
      ['shop.close_ticket', 'ending.close_ticket'],
    ),
  ),
  of(
    'triage',
    benign('asked politely', ['You sort support tickets.', 'Please sort support tickets.']),
    benign(
      'the memory answers for itself',
      ['import { retriever }', 'import { retriever, tool }'],
      [
        'const maxNotes = 5\n',
        "const maxNotes = 5\nconst remember = tool('remember', async (_: object) => ({ ok: true }), { replay: 'run' })\n",
      ],
      ["await call('POST', '/memory', {", 'await remember({'],
    ),
  ),
  of(
    'ops',
    benign('the engineer on call', ['You are on call.', 'You are the engineer on call.']),
    benign(
      'the timeline answers for itself',
      ['import { mark, tools }', 'import { mark, tool, tools }'],
      [
        'const windowMinutes = 30\n',
        "const windowMinutes = 30\nconst note = tool('note', async (_: object) => ({ ok: true }), { replay: 'run' })\n",
      ],
      ["await ask('POST', '/timeline', {", 'await note({'],
    ),
  ),
  of('travel', benign('trips of people', ['You book business trips.', 'You book the business trips of people.'])),
  of('docs', benign('asked politely', ['You keep an index', 'Please keep an index'])),
  of('billing', benign('asked politely', ['You settle disputes.', 'Please settle disputes.'])),
]

function of(name: string, reworded: Edit, tooled?: Edit): ProvedAgent {
  const subject = subjects.find((each) => each.name === name)
  if (subject === undefined) throw new RangeError(`no agent is called ${name}`)
  return { subject, reworded, ...(tooled === undefined ? {} : { tooled }) }
}
