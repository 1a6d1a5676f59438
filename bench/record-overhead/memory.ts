import type { Bar, BenchContext, Table } from '../kit/contract.ts'
import type { Folders } from './bench.ts'
import { Service } from './children.ts'

/** What a service still holds after so many recorded runs, 50 of them at a time. */
export async function measureMemory(
  { isQuick, progress }: BenchContext,
  folders: Folders,
  provider: string,
): Promise<{ readonly tables: readonly Table[]; readonly bars: readonly Bar[] }> {
  const marks = isQuick ? [500, 1_500] : [2_000, 4_000, 10_000]
  const rows: string[][] = []
  const heaps: number[] = []
  const service = await Service.start('recorded', provider, folders('memory'))
  let runs = 0
  for (const mark of marks) {
    progress(`memory: ${mark} runs`)
    await service.load(mark - runs, 50)
    runs = mark
    const { settled, kept } = await service.settled()
    if (settled === undefined || kept !== runs) throw new Error(`${kept} runs recorded, not ${runs}`)
    heaps.push(settled.heap)
    rows.push([
      `${runs}`,
      `${(settled.heap / 2 ** 20).toFixed(2)} MB`,
      `${(settled.rss / 2 ** 20).toFixed(0)} MB`,
      `${settled.handles}`,
      `${settled.listeners}`,
    ])
  }
  service.stop()
  const grown = (heaps.at(-1)! - heaps[0]!) / 2 ** 20
  const title = 'What is held after so many runs, 50 at a time'
  return {
    tables: [{ title, columns: ['runs', 'heap after collections', 'resident', 'handles', 'listeners'], rows }],
    bars: [
      {
        what: `heap after ${marks.at(-1)} runs, beyond that after ${marks[0]}, in MB`,
        value: grown,
        limit: { atMost: 1 },
      },
    ],
  }
}
