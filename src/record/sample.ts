import { hash } from 'node:crypto'

/**
 * Whether chance keeps a run: the same id decides alike in every process, so that all services that share an id keep
 * the same runs. A larger fraction keeps all that a smaller one keeps.
 *
 * @param fraction - 0 keeps none, 1 keeps all
 * @throws RangeError when the fraction is not a number from 0 to 1
 */
export function isSampled(id: string, fraction: number): boolean {
  if (!(fraction >= 0 && fraction <= 1)) throw new RangeError(`a fraction is from 0 to 1, not ${fraction}`)
  return fraction > 0 && shareOf(id) < fraction
}

/** The number in [0, 1) an id stands for: the first 48 bits of its SHA-256. */
export function shareOf(id: string): number {
  return Number.parseInt(hash('sha256', id).slice(0, 12), 16) / 2 ** 48
}
