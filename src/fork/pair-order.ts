import { createHash } from 'node:crypto'

/** Of each four pairs two ask the control first: a provider that takes turns favours neither. */
const orders = ['0011', '0101', '0110', '1001', '1010', '1100']

/**
 * Whether a control is asked before the run that it stands beside. That is left to chance, so that a provider that takes turns, such
 * as two servers behind one address, is no effect of a change; and balanced, which three pairs need as well. The same pair
 * of the same tape has the same order each time.
 *
 * @param pair - its place among all pairs
 */
export function isControlFirst({ digest }: { readonly digest: string }, pair: number): boolean {
  const drawn = createHash('sha256')
    .update(`${digest} ${pair >> 2}`)
    .digest()
    .readUInt32BE()
  return orders[drawn % orders.length]![pair & 3] === '1'
}

/** The places of runs that are asked for in pairs, each followed by its control, in the order in which they are to be asked. */
export function inPairs(tape: { readonly digest: string }, count: number): readonly number[] {
  return Array.from({ length: count }, (_, at) => {
    const pair = Math.floor(at / 2)
    return isControlFirst(tape, pair) && 2 * pair + 1 < count ? 2 * pair + (at % 2 === 0 ? 1 : 0) : at
  })
}
