import { randomFillSync } from 'node:crypto'
import { createRedactor, type PrintKey, Prints, type Redactor, type RedactorOptions } from '../privacy/index.ts'
import type { TapeHeader } from '../tape/index.ts'

/**
 * The redactor of one run, and what the header of its tape says about fingerprints.
 *
 * @param key - absent: the tape gets no fingerprints
 * @param secrets - texts that must not stand on this tape
 */
export function redactorOfRun(
  options: RedactorOptions | undefined,
  key: PrintKey | undefined,
  secrets: readonly string[] = [],
): { readonly redactor: Redactor; readonly printed?: NonNullable<TapeHeader['printed']> } {
  if (key === undefined) return { redactor: createRedactor(options, { keys: true, secrets }) }
  const salt = randomFillSync(Buffer.alloc(16)).toString('base64url')
  return {
    redactor: createRedactor(options, { keys: true, prints: new Prints(key, salt), secrets }),
    printed: { key: key.id, salt },
  }
}
