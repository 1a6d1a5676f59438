import type { World } from '../../world/types.ts'

export const input = {
  traveller: 'Mira Koch',
  text: 'Yes, please book the early one.',
  turns: [
    { role: 'user', content: 'I need to be in Hamburg by 11 on 12 May.' },
    { role: 'assistant', content: 'ICE 702 leaves at 7:05 and arrives at 10:02. Shall I book one seat?' },
  ],
}

export function open(): World {
  return {
    decide(_asked, index) {
      if (index === 0) return [{ name: 'find_trains', args: { from: 'Berlin', to: 'Hamburg', day: '2026-05-12' } }]
      if (index === 1) return [{ name: 'book', args: { train: 'ICE 702', seats: 1, firstClass: false } }]
      return 'ICE 702 at 7:05 is booked for Mira Koch.'
    },
    serve: ({ path }) => ({ body: path === '/trains' ? { trains: ['ICE 702', 'ICE 704'] } : { saved: true } }),
  }
}
