import { createRedactor } from '../privacy/index.ts'

/**
 * Takes the secrets out of an error, its causes, and the request or the headers that an SDK hangs on it, in place. What a
 * name promises counts too: `{ headers: { 'x-api-key': … } }`.
 */
export function redactThrown(thrown: object): void {
  const redactor = createRedactor()
  const seen = new Set<object>()
  const redact = (part: object): void => {
    if (seen.has(part)) return
    seen.add(part)
    // An error of this process hides these.
    for (const key of new Set(['name', 'message', 'stack', 'cause', ...Object.keys(part)])) {
      const value: unknown = Reflect.get(part, key)
      if (typeof value === 'object' && value !== null) redact(value)
      else if (typeof value === 'string')
        Reflect.set(part, key, Reflect.get(redactor.json({ [key]: value }) as object, key))
    }
  }
  redact(thrown)
}
