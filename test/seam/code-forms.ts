import { createHash } from 'node:crypto'
import fs from 'node:fs'
import * as path from 'node:path'

interface Order {
  readonly id: string
  readonly amount?: number
}

/** Functions of several shapes, to see how loaders write them. */
export const forms = {
  plain: async (order: Order): Promise<string> => `refunded ${order.id} of ${order.amount ?? 0} EUR`,
  quotes: (text: string): string => text.replace(/["'`]/g, "it's") + 'a "word"' + '\u00e9',
  /* with a comment */
  numbers: (x: number) => x * 1_000 + 0.5 + 0x10 + 1e3, // and another
  regex: (text: string) => (/^\/[a-z]"(?<year>\d{4})$/u.test(text) ? text.split(/,\s*/) : [text.length / 2 / 3]),
  async method(this: unknown, { id, amount = 25 }: Order): Promise<{ id: string; amount: number; dry: boolean }> {
    if (!id) throw new TypeError('no id' as string)
    return { id, amount, dry: true }
  },
  imported: (text: string) => createHash('sha256').update(path.join('/', text)).digest('hex') + fs.existsSync('/'),
  templates: (id: string, isTold: boolean) =>
    `a ${isTold ? `told ${path.basename(id)} of` : 'hidden'} file: ${JSON.stringify({ id, by: fs.constants })}, \`${id}\`, \u{e9}`,
  lazy: async () => (await import('node:os')).EOL,
  *generator(x: number) {
    for (let i = 0; i < x; i++) yield i satisfies number
  },
}
