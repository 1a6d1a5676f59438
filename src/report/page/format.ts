/* How values are written on the page. What is not known is said in words, never 0 and never blank. */

/** Characters that would hide or turn text. */
export const tricky = /([\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff])/

export function codeOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
}

/** Recorded text for attributes and drawings, where no element can stand: what would hide or turn text is written out. */
export function plain(value: string): string {
  return tricky.test(value)
    ? value
        .split(tricky)
        .map((part, index) => (index % 2 === 1 ? codeOf(part) : part))
        .join('')
    : value
}

export function ms(value: number | undefined): string {
  if (value === undefined) return 'unknown'
  if (value < 1) return '<1 ms'
  if (value < 1000) return `${Math.round(value)} ms`
  return value < 60_000
    ? `${(value / 1000).toFixed(2)} s`
    : `${Math.floor(value / 60_000)} min ${Math.round((value % 60_000) / 1000)} s`
}

/** When something began, from the start of the run. */
export function offset(value: number): string {
  return `+${value < 1 ? '0 ms' : ms(value)}`
}

export function usd(value: number | undefined): string {
  if (value === undefined) return 'unknown'
  if (value === 0) return '$0'
  return `$${value < 0.01 ? value.toPrecision(2) : value.toFixed(value < 1 ? 4 : 2)}`
}

export function int(value: number | null | undefined): string {
  return value === undefined || value === null ? 'unknown' : value.toLocaleString('en-US')
}

export function percent(value: number): string {
  return `${Math.round(value * 100)} %`
}

/** Two digits: 1.25 %. */
export function finePercent(value: number): string {
  return `${Number((value * 100).toFixed(2))} %`
}

export function size(length: number): string {
  if (length < 1024) return `${length} B`
  return length < 1 << 20 ? `${(length / 1024).toFixed(1)} KB` : `${(length / (1 << 20)).toFixed(1)} MB`
}

export function counted(count: number, noun: string): string {
  return `${int(count)} ${noun}${count === 1 ? '' : 's'}`
}

export function clip(value: string, length: number): string {
  const line = plain(value.slice(0, 400).replace(/\s+/g, ' '))
  return line.length > length ? `${line.slice(0, Math.max(3, length - 1))}…` : line
}

/** One line of a text that may have many. */
export function flat(value: string): string {
  return value.slice(0, 400).replace(/\s+/g, ' ')
}

export function looksJson(value: string): boolean {
  return /^\s*[[{]/.test(value)
}

/** JSON as people read it: a line for each key, texts of several lines as they are. The bytes stand under Raw. */
export function pretty(value: string): string {
  if (!looksJson(value)) return value
  try {
    return lines(JSON.parse(value) as unknown, '')
  } catch {
    return value
  }
}

function lines(value: unknown, pad: string): string {
  if (typeof value === 'string') return textLines(value, pad)
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  const isList = Array.isArray(value)
  const members = Object.entries(value)
  if (members.length === 0) return isList ? '[]' : '{}'
  const short = JSON.stringify(value)
  if (pad !== '' && short.length < 60 && !short.includes('\\n')) {
    if (isList) return short.replaceAll('","', '", "')
    return `{ ${members.map(([key, member]) => `${key}: ${JSON.stringify(member)}`).join(', ')} }`
  }
  const rows = members.map(([key, member]) => {
    const inner = lines(member, `${pad}  `)
    return `${pad}${isList ? '-' : `${key}:`} ${isList ? inner.replace(/^\n\s*/, '') : inner}`
  })
  return `${pad === '' ? '' : '\n'}${rows.join('\n')}`
}

function textLines(value: string, pad: string): string {
  if (/^[[{]"?/.test(value) && value.length > 2) {
    try {
      const inner: unknown = JSON.parse(value)
      if (typeof inner === 'object' && inner !== null)
        return `(JSON in a text)\n${lines(inner, pad === '' ? '  ' : pad).replace(/^\n/, '')}`
    } catch {
      // A text like any other.
    }
  }
  if (!value.includes('\n')) return JSON.stringify(value)
  return `|\n${value
    .split('\n')
    .map((line) => `${pad}${line}`)
    .join('\n')}`
}
