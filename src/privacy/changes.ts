import type { CallEvent, Json } from '../tape/index.ts'

type Changes = NonNullable<CallEvent['wrote']>

/** What a tool wrote into its context, in the objects it stands in there: their names say what it is. */
export function changeInPlace([path, value]: Changes[number]): Json {
  return path.reduceRight<Json>((inner, name) => ({ [name]: inner }), value ?? null)
}

/** The changes, each redacted in its place. */
export function redactedChanges(changes: Changes, redact: (value: Json) => Json): Changes {
  return changes.map((change): Changes[number] => {
    const whole = changeInPlace(change)
    let inner = redact(whole)
    if (inner === whole) return change
    const path: string[] = []
    while (path.length < change[0].length) {
      const [name, value] = Object.entries(inner as { readonly [name: string]: Json })[0]!
      path.push(name)
      inner = value
    }
    return change.length === 1 ? [path] : [path, inner]
  })
}
