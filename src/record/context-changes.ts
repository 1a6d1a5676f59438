import type { CallEvent, Json } from '../tape/index.ts'

/** Something in a tool's context that is other behind its call: where, and what is there then; nothing is. */
export type WrittenChange = NonNullable<CallEvent['wrote']>[number]

/** What of a context, as data, changed while a tool ran. Lists, and what has a type of its own, are other as a whole. */
export function contextChanges(before: Json, after: Json, path: readonly string[] = []): readonly WrittenChange[] {
  if (isPlain(before) && isPlain(after))
    return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((name) => {
      const [was, is] = [field(before, name), field(after, name)]
      const at = [...path, name]
      if (is === undefined) return [[at] as const]
      return was === undefined ? [[at, is] as const] : contextChanges(was, is, at)
    })
  return JSON.stringify(before) === JSON.stringify(after) ? [] : [[path, after]]
}

function isPlain(value: Json): value is { readonly [name: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !('$type' in value)
}

function field(value: { readonly [name: string]: Json }, name: string): Json | undefined {
  return Object.hasOwn(value, name) ? value[name] : undefined
}
