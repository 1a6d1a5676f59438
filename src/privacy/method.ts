import type { Redactor } from './redactor.ts'

/** The method of a request, which its client may name as it likes. Most are a word that hides nothing. */
export function redactedMethod(method: string, redactor: Pick<Redactor, 'name'>): string {
  return /^[A-Z-]{1,16}$/.test(method) ? method : redactor.name(method)
}
