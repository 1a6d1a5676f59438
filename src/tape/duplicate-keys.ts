/**
 * The first key that stands twice in one map of a line; `undefined` when none does. `JSON.parse` takes the last of two in
 * silence, and whoever reads the line sees the first.
 *
 * @param json - is valid JSON, on one line
 * @param value - what it was parsed to
 */
export function duplicateKeyIn(json: string, value: object): string | undefined {
  // Counting costs a part of what parsing does; only where the counts differ is the key looked for.
  return keysWritten(json) === keysRead(value) ? undefined : scan(json)
}

/**
 * A text ends, and a colon follows. The quote of an end stands behind no backslash, or behind an even number of them: none is
 * left out. One that is escaped counts as well behind three or more, and then the key is looked for.
 */
const endOfKey = /(?:[^\\]|\\\\)"[\t\r ]*:/g

/** How many texts a colon follows, or more. */
function keysWritten(json: string): number {
  let keys = 0
  endOfKey.lastIndex = 0
  while (endOfKey.test(json)) keys++
  return keys
}

function keysRead(value: object): number {
  let keys = 0
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) {
      const item: unknown = value[at]
      if (typeof item === 'object' && item !== null) keys += keysRead(item)
    }
    return keys
  }
  // Parsed JSON inherits no keys: `for in` makes no list of them.
  for (const key in value) {
    keys++
    const item = (value as Record<string, unknown>)[key]
    if (typeof item === 'object' && item !== null) keys += keysRead(item)
  }
  return keys
}

function scan(json: string): string | undefined {
  // One entry for each open map or list; lists have no keys.
  const open: (Set<string> | undefined)[] = []
  let isKeyNext = false
  for (let at = 0; at < json.length; at++) {
    switch (json[at]) {
      case '{':
        open.push(new Set())
        isKeyNext = true
        break
      case '[':
        open.push(undefined)
        isKeyNext = false
        break
      case '}':
      case ']':
        open.pop()
        isKeyNext = false
        break
      case ',':
        isKeyNext = open.at(-1) !== undefined
        break
      case '"': {
        const end = endOfText(json, at)
        if (isKeyNext) {
          const key = JSON.parse(json.slice(at, end + 1)) as string
          const keys = open.at(-1)
          if (keys?.has(key) === true) return key
          keys?.add(key)
          isKeyNext = false
        }
        at = end
        break
      }
      default:
    }
  }
  return undefined
}

/** Where the text ends that begins at `start`. */
function endOfText(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); ; end = json.indexOf('"', end + 1)) {
    let slashes = 0
    while (json[end - 1 - slashes] === '\\') slashes++
    if (slashes % 2 === 0) return end
  }
}
