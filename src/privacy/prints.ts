import { createHmac } from 'node:crypto'
import { HarvestError } from '../errors/index.ts'

/** The variable that holds the keys of fingerprints: the first one writes, all of them compare. */
export const printVariable = 'HARVEST_FINGERPRINT_KEY'

/** A key of fingerprints. It is as secret as the values: whoever has it can try out addresses until one fits. */
export interface PrintKey {
  /** Names the key on tapes; nothing about it follows from this. */
  readonly id: string
  readonly secret: string
}

// Of base64, as `openssl rand -base64 32` writes it; what a person makes up is shorter, and guessed.
const leastLength = 32

/**
 * The keys in a variable, separated by spaces, commas or line feeds.
 *
 * @throws HarvestError `HARVEST_PRIVACY_OPTION` for one that is too short; never with the key
 */
export function printKeys(given: string | undefined = process.env[printVariable]): readonly PrintKey[] {
  const keys = (given ?? '').split(/[\s,]+/).filter((key) => key !== '')
  const short = keys.findIndex((key) => key.length < leastLength)
  if (short !== -1) {
    throw new HarvestError('HARVEST_PRIVACY_OPTION', {
      what: 'The key for fingerprints is too short',
      where: {
        variable: printVariable,
        key: `number ${short + 1} of ${keys.length}`,
        least: `${leastLength} characters`,
      },
      why: 'With a guessed key, redacted addresses can be guessed too.',
      fix: ['openssl rand -base64 32'],
    })
  }
  return keys.map((secret) => ({ id: mac(secret, 'harvest print key id').subarray(0, 4).toString('hex'), secret }))
}

/**
 * Makes the fingerprints of one run: HMAC-SHA-256, 96 bits. The salt of the run goes in, so that without the key no one
 * sees that two tapes are about one person.
 */
export class Prints {
  readonly #key: PrintKey
  readonly #salt: string

  constructor(key: PrintKey, salt: string) {
    this.#key = key
    this.#salt = salt
  }

  of(kind: string, value: string): string {
    const text = ['harvest print 1', this.#salt, kind, form(kind, value)].join('\0')
    return mac(this.#key.secret, text).subarray(0, 12).toString('base64url')
  }
}

function mac(key: string, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}

/** Two spellings of one address are one address. Spaces in numbers are gone already. */
function form(kind: string, value: string): string {
  return kind === 'email' ? value.normalize('NFC').toLowerCase() : value.normalize('NFC')
}
