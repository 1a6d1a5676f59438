/** Nothing, and a list of nothing, has no part that could be another one. Of an object of a class its code alone knows the parts. */
export function holdsText(value: unknown, seen: WeakSet<object> = new WeakSet()): boolean {
  if (typeof value === 'string' || value === undefined || value === null) return true
  const isList = Array.isArray(value)
  if (typeof value !== 'object' || seen.has(value) || (!isList && !isPlainObject(value))) return false
  seen.add(value)
  const parts = Object.values(Object.getOwnPropertyDescriptors(value)).filter(({ enumerable }) => enumerable === true)
  return parts.some((part) => holdsText(part.value as unknown, seen)) || (isList && parts.length === 0)
}

function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
