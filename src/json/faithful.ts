/**
 * Whether `JSON.parse` keeps everything a JSON text says. It rounds numbers beyond 2⁵³ and drops all but the last of
 * equal keys: two texts that differ only there would be taken for one.
 */
export function isFaithful(json: string): boolean {
  let keys = 0
  for (const [token, isKey] of json.matchAll(tokens)) {
    if (!token.startsWith('"')) {
      if (!isExact(token)) return false
    } else if (isKey) keys++
  }
  return keys === countKeys(JSON.parse(json))
}

// In JSON a quote outside a string always begins one, so strings are skipped whole.
const tokens = /"(?:[^"\\]|\\.)*"(\s*:)?|-?\d[\d.eE+-]*/g

function isExact(number: string): boolean {
  const value = Number(number)
  if (!Number.isFinite(value)) return false
  if (/^-?\d+$/.test(number)) return Number.isSafeInteger(value) || BigInt(number) === BigInt(value)
  // 15 significant digits always survive; more do when they are what JavaScript itself writes.
  return number.replace(/[eE].*$/, '').replace(/^[-0.]+|\./g, '').length <= 15 || String(value) === number
}

function countKeys(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const inside = Object.values(value).reduce((sum: number, member) => sum + countKeys(member), 0)
  return Array.isArray(value) ? inside : inside + Object.keys(value).length
}
