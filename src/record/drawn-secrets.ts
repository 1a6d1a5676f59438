import { HarvestError } from '../errors/index.ts'
import type { Draw } from '../tape/index.ts'

/** Bytes from which on a random value is the same as another one by design, not by chance. */
const leastBytes = 12
/** Values of one run that are remembered, the first ones. */
const valueCap = 64

/** Random values of a run that a secret may be made of: a replay draws them again, so they stand on the tape in clear. */
export class DrawnValues {
  readonly #values: string[] = []

  note(draws: readonly Draw[]): void {
    for (const [kind, , value] of draws) {
      if (this.#values.length >= valueCap) return
      if (typeof value !== 'string' || (kind !== 'uuid' && kind !== 'bytes')) continue
      if (kind === 'uuid' || Buffer.byteLength(value, 'base64') >= leastBytes) this.#values.push(value)
    }
  }

  /** How code writes them as text. */
  get spellings(): readonly string[] {
    return this.#values.flatMap((value) => {
      if (value[8] === '-' && value[13] === '-') return [value, value.replaceAll('-', '')]
      const bytes = Buffer.from(value, 'base64')
      return [value.replace(/=+$/, ''), bytes.toString('base64url'), bytes.toString('hex')]
    })
  }
}

export function drawnSecret(where: { readonly run: string; readonly tape: string }): HarvestError {
  return new HarvestError('HARVEST_DRAWN_SECRET', {
    what: 'A secret that was made in this run can be read from its tape',
    where,
    why: 'It is redacted. The random bytes that it was made of are not: a replay draws them again.',
    fix: [
      'make it inside of a wrapped function: const password = tool(() => ({ password: randomBytes(24).toString(…) }))',
      'what is drawn in there stays off the tape',
    ],
  })
}
