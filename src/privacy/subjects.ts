import { createHmac } from 'node:crypto'
import { HarvestError } from '../errors/index.ts'

/** The variable that holds the keys of subjects: the first one writes, all of them search. */
export const subjectVariable = 'HARVEST_SUBJECT_KEY'

// As for fingerprints: what a person makes up is shorter, and guessed.
const leastLength = 32

/**
 * The keys in a variable, separated by spaces, commas or line feeds.
 *
 * @throws HarvestError `HARVEST_PRIVACY_OPTION` for one that is too short; never with the key
 */
export function subjectKeys(given: string | undefined = process.env[subjectVariable]): readonly string[] {
  const keys = (given ?? '').split(/[\s,]+/).filter((key) => key !== '')
  const short = keys.findIndex((key) => key.length < leastLength)
  if (short !== -1)
    throw new HarvestError('HARVEST_PRIVACY_OPTION', {
      what: 'The key for subjects is too short',
      where: {
        variable: subjectVariable,
        key: `number ${short + 1} of ${keys.length}`,
        least: `${leastLength} characters`,
      },
      why: 'With a guessed key, subjects can be guessed from their tags.',
      fix: ['openssl rand -base64 32'],
    })
  return keys
}

/**
 * Who a run is about, as a tape says it: HMAC-SHA-256, 128 bits. The same for every run, so that a subject is found; without
 * the key it says nothing.
 */
export function subjectTag(subject: string, key: string): string {
  const mac = createHmac('sha256', key)
    .update(`harvest subject 1\0${subject.normalize('NFC')}`)
    .digest()
  return `s1${mac.subarray(0, 16).toString('base64url')}`
}

/** Whether a text is a tag and no subject. */
export function isSubjectTag(text: string): boolean {
  return /^s1[\w-]{22}$/.test(text)
}
