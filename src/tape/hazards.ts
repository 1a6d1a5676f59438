/** Deeper JSON than this is refused: code that walks it by recursion would overflow the stack. */
export const depthCap = 256

/**
 * Why a line must not be on a tape, or `undefined`: nesting deeper than {@link depthCap}, or a key `__proto__`,
 * which would change an object's prototype in careless code further on.
 *
 * @param json - the text of `value`
 */
export function hazardOf(value: object, json: string): string | undefined {
  // In a long line, where most of the text is bodies, a walk is cheaper than a search.
  return json.length > 2 * depthCap || mayHavePrototype(json) ? walk(value, 1) : undefined
}

function mayHavePrototype(json: string): boolean {
  // A key can be spelled with escapes: `\u005f` is an underscore.
  return json.includes('__proto__') || json.includes('\\u00')
}

function walk(value: object, depth: number): string | undefined {
  if (depth > depthCap) return `nested deeper than ${depthCap} levels`
  if (Array.isArray(value)) {
    // By index: lines are walked while an agent waits, and iterators are garbage.
    for (let at = 0; at < value.length; at++) {
      const item: unknown = value[at]
      if (typeof item !== 'object' || item === null) continue
      const found = walk(item, depth + 1)
      if (found !== undefined) return found
    }
    return undefined
  }
  // Parsed JSON inherits no keys: `for in` makes no list of them.
  for (const key in value) {
    if (key === '__proto__') return 'a key is called __proto__'
    const item = (value as Record<string, unknown>)[key]
    if (typeof item !== 'object' || item === null) continue
    const found = walk(item, depth + 1)
    if (found !== undefined) return found
  }
  return undefined
}
