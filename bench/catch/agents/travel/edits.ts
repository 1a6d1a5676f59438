import { benign, type Edit, regression } from '../../edits.ts'

export const edits: readonly Edit[] = [
  regression('the day of travel is today', [
    '${trip.depart}, ${trip.nights} nights',
    '${new Date().toISOString().slice(0, 10)}, ${trip.nights} nights',
  ]),
  regression('the approval is not waited for', ["if (status === 'approved') {", "if (status !== 'rejected') {"]),
  regression('the approval of small sums is overridden', [
    "      if (status === 'rejected') break\n",
    "      if (status === 'rejected') break\n      if (Number(total) < 1_000) await ask('/approvals/override', { hold_id })\n",
  ]),
  regression('the hold ends a day too early', ['const holdHours = 24', 'const holdHours = 48']),
  regression('hotels are searched for one night', [
    'checkin=${checkin}&nights=${nights}`',
    'checkin=${checkin}&nights=1`',
  ]),
  regression('flight and hotel change places in the hold', [
    '{ flight, hotel, traveller',
    '{ flight: hotel, hotel: flight, traveller',
  ]),
  regression('the trip is booked under the wrong id', [
    "await ask('/bookings', { hold_id,",
    "await ask('/bookings', { hold_id: flight,",
  ]),
  regression('the mail is sent before the booking', [
    "        await ask('/bookings', { hold_id, reference: crypto.randomUUID() })\n        booked = true\n        await ask('/mails', { to: trip.traveller, subject: `Your trip to ${trip.to}` })\n",
    "        await ask('/mails', { to: trip.traveller, subject: `Your trip to ${trip.to}` })\n        await ask('/bookings', { hold_id, reference: crypto.randomUUID() })\n        booked = true\n",
  ]),
  regression('fewer looks at the approval', ['poll < 5', 'poll < 2']),
  regression('the hold does not say for whom', [
    '{ flight, hotel, traveller: trip.traveller, until }',
    '{ flight, hotel, until }',
  ]),
  regression('the first look at the approval is kept', [
    '    for (let poll = 0; poll < 5; poll++) {\n      const { status } = await ask(`/approvals/${hold_id}`)',
    '    const seen = ask(`/approvals/${hold_id}`)\n    for (let poll = 0; poll < 5; poll++) {\n      const { status } = await seen',
  ]),
  regression('another model', ["openai.chat('gpt-5')", "openai.chat('gpt-5-mini')"]),
  regression(
    'the search for hotels is dropped',
    ['      search_hotels: tool({', '      ...(trip.nights > 5) && { search_hotels: tool({'],
    ['nights=${nights}`),\n      }),', 'nights=${nights}`),\n      }) },'],
  ),
  benign('the hold is computed in minutes', ['holdHours * 3_600_000', 'holdHours * 60 * 60_000']),
  benign('the system prompt is worded anew', [
    "'You book business trips. Book only what was approved.'",
    "'You are a travel desk for business trips. Never book without approval.'",
  ]),
  benign('the prompt is worded anew', [
    '`Book a trip for ${trip.traveller}: ${trip.from} to ${trip.to}, ${trip.depart}, ${trip.nights} nights.`',
    '`${trip.traveller} needs a trip from ${trip.from} to ${trip.to} on ${trip.depart}, staying ${trip.nights} nights. Please book it.`',
  ]),
  benign(
    'tools are described more closely',
    ["'Flights of a day'", "'Searches flights on a given day'"],
    ['z.object({ from: z.string(), to', "z.object({ from: z.string().describe('IATA code'), to"],
  ),
  benign('more steps are allowed', ['isStepCount(8)', 'isStepCount(12)']),
  benign('the SDK may retry', ['maxRetries: 0', 'maxRetries: 2']),
  benign('progress is logged', [
    "      if (status === 'rejected') break\n",
    "      console.info('approval', { hold_id, status, poll })\n      if (status === 'rejected') break\n",
  ]),
  benign('the wait between looks is longer', ['setTimeout(resolve, 20)', 'setTimeout(resolve, 30)']),
  benign('the plan is read by named groups', [
    'const [, flight, hotel, total] = /PLAN flight=(\\S+) hotel=(\\S+) total=(\\S+)/.exec(plan) ?? []',
    'const { flight, hotel, total } = /PLAN flight=(?<flight>\\S+) hotel=(?<hotel>\\S+) total=(?<total>\\S+)/.exec(plan)?.groups ?? {}',
  ]),
  benign('requests say what they are for', [
    "headers: { accept: 'application/json',",
    "headers: { accept: 'application/json', 'x-request-source': 'travel',",
  ]),
]
