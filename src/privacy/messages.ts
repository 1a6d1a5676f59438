import { overLines, sticky } from './edges.ts'
import { work } from './work.ts'

const field = String.raw`\\*["'][\w$-]{1,32}\\*["']\s{0,4}:\s{0,4}(?:\\*["'][^"'\\\r\n]{0,64}\\*["']|[\w.]{1,16})`
/** What a message or a tool says, behind its name and at most three other fields. */
const says = sticky`\\*["'](?:\s{0,4},\s{0,16}${field}){0,3}\s{0,4},\s{0,16}\\*["'](?:content|text)\\*["']\s{0,4}:\s{0,4}(\\*["'])(?=([[{])?)`
const saysEleventh = overLines(says)
/** `"role":`, `"tool_call_id":`, `"type":"function"`. */
const sign = /["'](?:role|[\w-]{0,24}(?:tool|function|call_?id)[\w-]{0,24})\\*["']/i
/** What a tool is called: `"tool":"`, `"functionName":"`. */
const toolName = /["'](?:tool|function)(?:_?name)?\\*["']\s{0,4}:\s{0,4}\\*["']$/i
/** So much of an object is looked at on either side. */
const near = 256

/**
 * As {@link isMessage}, where what the tool said stands before its name.
 *
 * @param said - what, and under which key
 */
export function isMessageBefore(
  text: string,
  { from, to, key }: { readonly from: number; readonly to: number; readonly key: string },
  name: number,
  nameEnd: number,
): boolean {
  work.done += 8
  if (toolName.test(text.slice(Math.max(0, name - near), name))) return true
  if (key !== 'content' && key !== 'text') return false
  const before = text.slice(Math.max(0, from - near), from)
  return (
    /[[{]/.test(text[from]!) ||
    sign.test(before.slice(before.lastIndexOf('{') + 1)) ||
    sign.test(text.slice(to, name)) ||
    sign.test(text.slice(nameEnd, nameEnd + near).split('}', 1)[0]!)
  )
}

/**
 * Whether a name is that of a tool, and what stands behind it is what the tool said: `{"role":"tool","name":"reset_password","content":"…"}`.
 *
 * @param name - where it begins
 */
export function isMessage(text: string, name: number, nameEnd: number, version: number): boolean {
  const before = text.slice(Math.max(0, name - near), name)
  work.done += 8
  if (toolName.test(before)) return true
  const pattern = version >= 11 ? saysEleventh : says
  pattern.lastIndex = nameEnd
  const [said, quote, json] = pattern.exec(text) ?? []
  if (said === undefined || quote === undefined) return false
  const start = nameEnd + said.length
  const end = text.indexOf(quote, start)
  return (
    json !== undefined ||
    sign.test(before.slice(before.lastIndexOf('{') + 1)) ||
    sign.test(said) ||
    (end !== -1 && sign.test(text.slice(end, end + near).split('}', 1)[0]!))
  )
}
