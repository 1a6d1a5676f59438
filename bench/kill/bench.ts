import { resolve } from 'node:path'
import type { Bench } from '../kit/contract.ts'
import { killOften } from './kill.ts'

const bench: Bench = {
  question: 'What does a killed process leave on its tapes?',
  async run({ isQuick, scratch, progress }) {
    const kills = isQuick ? 40 : 1_000
    const found = await killOften({
      scratch,
      kills,
      lanes: 4,
      door: resolve('dist/record/index.js'),
      onKill: (count) => progress(`${count} of ${kills} kills`),
    })
    const { tapes, promises, openCalls, withPieces, faults } = found
    if (faults.length > 0) throw new Error(faults.slice(0, 20).join('\n'))
    const number = (count: number): string => count.toLocaleString('en')
    return {
      tables: [
        {
          title: `${number(kills)} kills of 4 services with three runs under way in each`,
          columns: ['tapes', 'lines promised', 'open calls named', 'of them with what had arrived', 'lost'],
          rows: [[number(tapes), number(promises), number(openCalls), number(withPieces), '0']],
        },
      ],
      bars: [
        {
          what: 'tapes that do not open, lost answers, open calls without a name',
          value: faults.length,
          limit: { atMost: 0 },
        },
      ],
      remarks: [
        'A call counts as open from when its server has heard it whole, or its tool has begun; a promise is a line the service wrote once an answer was read to its end or a run was over.',
      ],
    }
  },
}
export default bench
