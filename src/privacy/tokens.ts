// Over 300 lines: families, shapes and dotted tokens share how a token begins, and what the length before it says.
import { afterEscape, beginsToken, codesOf, has, withoutLast } from './edges.ts'
import { alphabets, type KindFamily } from './families.ts'
import { countedLength, isBehindByte } from './lengths.ts'
import type { TextRange } from './types.ts'
import { isMixed as hasFewWords, looking, looksRandom } from './values.ts'
import type { Trigger } from './walk.ts'
import { work } from './work.ts'

const guards: Readonly<Record<NonNullable<KindFamily['guard']>, (body: string) => boolean>> = {
  digit: (body) => /\d/.test(body),
  mixed: isMixed,
  apart: isMixed,
}

/** A letter beside a digit, and no name in words: `sk-learn-pipeline`, `hf_transfer_enabled`, `dapi-client-for-node-24`. */
function isMixed(body: string): boolean {
  return /[A-Za-z]\d|\d[A-Za-z]/.test(body) && !/(?:[-_.][a-z]+){3}(?![a-z\d])/.test(body) && !inWords.test(body)
}

/** Words, versions and years with one sign between them. */
const inWords = /^[a-z]+\d{0,2}(?:[-_.](?:[a-z]+\d{0,2}|v?\d{1,4}))+$/

/** In JSON text the `n` of `\nfc_…` belongs to the escape. */
function beginsWord(text: string, start: number): boolean {
  return (beginsToken(text, start) && afterEscape(text, start) === start) || isBehindByte(text, start)
}

/** Longer words are no key with something before it. */
const longestGlued = 256

/** Looks for the tokens of a family wherever its head begins a word, or stands behind a dash of one. */
export function tokensOf({ kind, head, of, min, max, guard }: KindFamily): Trigger {
  const { of: letters, more } = alphabets[of]
  const body = new RegExp(`${letters}{${min},${max}}(?!${guard === 'apart' ? `${more}|[+/]` : more})`, 'y')
  const holds = guard === undefined ? undefined : guards[guard]
  // `refund-sk-proj-…`; what is no vendor's own, such as `key-`, stands in names of caches too.
  const mayBeGlued = kind !== 'api-key' && head.length > 2
  const run = new RegExp(`${letters}{0,${longestGlued + 1}}`, 'y')
  const [letter = ''] = head
  /** One that begins behind its length, which may be a letter. It ends there, or where it might go on to. */
  const counted = (text: string, start: number, found: TextRange[]): number => {
    const length = countedLength(text, start, (said) => {
      body.lastIndex = head.length
      const rest = body.exec(said)?.[0]
      return rest === undefined || holds?.(rest) === false ? 0 : head.length + rest.length
    })
    if (length === 0) return 0
    body.lastIndex = start + head.length
    const end = Math.max(start + length, body.test(text) ? body.lastIndex : 0)
    found.push({ kind, start, end, value: text.slice(start, end) })
    return end
  }
  const ofOneLetter = head === letter.repeat(head.length) ? new RegExp(`${letter}*`, 'y') : undefined
  return {
    text: head,
    at(text, start, found) {
      // Behind five of the letter no escape ends either, so that nothing begins in the rest of its run.
      if (ofOneLetter !== undefined && start >= 5 && text.startsWith(letter.repeat(5), start - 5))
        return endOf(ofOneLetter, text, start)
      const isGlued = mayBeGlued && text[start - 1] === '-'
      if (!isGlued && !beginsWord(text, start)) return counted(text, start, found)
      // Of letters alone: in base64 cut into lines the head stands by chance.
      if (guard === 'apart' && /[+/]/.test(text[start - 1] ?? '')) return 0
      if (isGlued) {
        run.lastIndex = start + head.length
        run.test(text)
        if (run.lastIndex > start + head.length + longestGlued) return run.lastIndex - 64
      }
      body.lastIndex = start + head.length
      const rest = body.exec(text)?.[0]
      if (rest === undefined) return counted(text, start, found)
      const end = start + head.length + rest.length
      if (holds?.(rest) === false || (isGlued && !looksRandom(rest))) return end - 64
      found.push({ kind, start, end, value: head + rest })
      return end
    },
  }
}

function endOf(pattern: RegExp, text: string, start: number): number {
  pattern.lastIndex = start
  pattern.test(text)
  return pattern.lastIndex
}

/** A token that is recognised by more than its beginning. */
interface Shape {
  readonly kind: string
  /** Where to look. */
  readonly anchors: readonly string[]
  /** Sticky; the secret is group 1, or all of it. Every repetition is bounded. */
  readonly pattern: RegExp
  /** How far before the anchor the pattern begins. Default 0. */
  readonly back?: number
  /** Before the anchor stand up to this many characters of the token. Default 0. */
  readonly reach?: number
  readonly holds?: (secret: string) => boolean
  /** The anchor is the end or the middle of a word. */
  readonly isInside?: true
  /** The anchor tells nothing about other places where the same secret stands. */
  readonly contextual?: true
  /** The first version that looks for it. Default 1. */
  readonly since?: number
}

/** Beside its first line, which a text may speak of, a key has some of its bytes. */
const hasBody = (key: string): boolean => looking.asBefore || (/[A-Za-z0-9+/=]{16}/.test(key) && /\d/.test(key))

const hasDigit = (secret: string): boolean => /\d/.test(secret)

const bearer: Omit<Shape, 'pattern'> = {
  kind: 'bearer-token',
  anchors: ['Bearer ', 'bearer ', 'BEARER ', 'Bearer%20', 'Bearer+', 'bearer+'],
  contextual: true,
}

const shapes: readonly Shape[] = [
  {
    kind: 'slack-token',
    anchors: ['hooks.slack.com/'],
    pattern: /hooks\.slack\.com\/(?:services|workflows)\/([A-Za-z0-9/]{20,255})/y,
  },
  {
    kind: 'webhook',
    anchors: ['discord.com/api/webhooks/', 'discordapp.com/api/webhooks/'],
    pattern: /discord(?:app)?\.com\/api\/webhooks\/(\d{10,24}\/[\w-]{20,255})/y,
  },
  {
    kind: 'webhook',
    anchors: ['.webhook.office.com/webhookb2/'],
    pattern: /\.webhook\.office\.com\/webhookb2\/([\w@/-]{20,512})/y,
    isInside: true,
  },
  {
    kind: 'webhook',
    anchors: ['hooks.zapier.com/hooks/catch/'],
    pattern: /hooks\.zapier\.com\/hooks\/catch\/(\d{4,12}\/[a-z0-9]{5,12})/y,
  },
  { kind: 'api-key', anchors: ['bot'], pattern: /bot(\d{8,12}:[\w-]{30,64})/y },
  {
    kind: 'slack-token',
    anchors: ['hooks.slack.com/triggers/'],
    since: 6,
    pattern: /hooks\.slack\.com\/triggers\/([A-Za-z0-9/]{20,255})/y,
  },
  {
    kind: 'jwt',
    anchors: ['eyJ'],
    since: 6,
    // Encrypted: a header, a key or nothing, and three parts of bytes.
    pattern: /eyJ[\w-]{5,65536}\.[\w-]{0,65536}\.[\w-]{11,64}\.[\w-]{1,65536}\.[\w-]{16,128}(?![\w-])/y,
  },
  { kind: 'jwt', anchors: ['eyJ'], pattern: /eyJ[\w-]{5,65536}\.eyJ[\w-]{5,65536}\.[\w-]{5,65536}/y },
  {
    ...bearer,
    pattern: /bearer(?:[ +]|%20){1,4}([\w.~+/-]{8,65536}={0,2})/iy,
    holds: hasDigit,
  },
  {
    ...bearer,
    since: 14,
    pattern: /bearer(?:[ +]|%20){1,4}([\w.~+/-]{16,65536}={0,2})/iy,
    holds: (secret) => !hasDigit(secret) && hasFewWords(secret),
  },
  {
    kind: 'basic-auth',
    anchors: ['Basic ', 'basic ', 'Basic%20', 'Basic+'],
    pattern: /basic(?:[ +]|%20){1,4}([A-Za-z0-9+/]{6,4096}={0,2})/iy,
    holds: holdsNameAndPassword,
    contextual: true,
  },
  { kind: 'api-key', anchors: ['pk_'], pattern: /pk_\d{6,10}_[A-Z0-9]{32}(?![A-Za-z0-9])/y },
  {
    kind: 'private-key',
    anchors: ['-----BEGIN '],
    // Ends with its END line, or where text begins that cannot be part of a key: one cut off is a secret all the same.
    pattern:
      /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[\w+/=\s\\:,.]|-(?!----)){0,20000}(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?/y,
    holds: hasBody,
  },
  // Signs in the middle or at the end.
  { kind: 'openai-key', anchors: ['T3BlbkFJ'], pattern: /[\w-]{12,200}T3BlbkFJ(?!T3Blbk)[\w-]{20,200}/y, reach: 200 },
  { kind: 'api-key', anchors: ['.atlasv1.'], pattern: /[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,70}/y, back: 14 },
  { kind: 'api-key', anchors: ['AZDO'], pattern: /[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}/y, back: 76 },
  { kind: 'api-key', anchors: ['JQQJ99'], pattern: /[A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{26}/y, back: 52 },
  { kind: 'api-key', anchors: ['8Q~', '7Q~', '9Q~'], pattern: /[\w~.-]{3}\dQ~[\w~.-]{31,34}/y, back: 3 },
  { kind: 'api-key', anchors: [':AA'], pattern: /\d{8,10}:AA[\w-]{32,34}(?![\w-])/y, reach: 10 },
  { kind: 'api-key', anchors: ['_mmk'], since: 4, pattern: /[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk(?!\w)/y, back: 36 },
  { kind: 'api-key', anchors: ['-us'], pattern: /[0-9a-f]{32}-us\d{1,2}(?!\w)/y, back: 32 },
  {
    kind: 'api-key',
    anchors: ['0|', '1|', '2|', '3|', '4|', '5|', '6|', '7|', '8|', '9|'],
    pattern: /\d{13,17}\|[\w-]{27}(?![\w-])/y,
    reach: 16,
  },
]

/** The built-in tokens that no row of the table says. */
export function shapeTriggersOf(isOn: (kind: string) => boolean, version: number): readonly Trigger[] {
  return [
    ...shapes
      .filter(({ kind, since = 1 }) => isOn(kind) && version >= since)
      .flatMap((shape) => shape.anchors.map((at) => triggerOf(shape, at))),
    ...(isOn('api-key') ? dotted() : []),
  ]
}

/** Before an anchor, so many places are tried for one that stands behind its length. */
const mostCounted = 16

function triggerOf(shape: Shape, anchor: string): Trigger {
  const { kind, pattern, back = 0, reach = 0, holds, isInside, contextual } = shape
  const add = (end: number, value: string, found: TextRange[]): void => {
    found.push({
      kind,
      start: end - value.length,
      end,
      value: kind === 'private-key' ? withLines(value) : value,
      ...(contextual && { contextual }),
    })
  }
  /** Where one ends that begins behind its length: the length may be a character of tokens as well. */
  const otherwise = (text: string, from: number, index: number, found: TextRange[]): number => {
    const none = reach === 0 ? 0 : index + 64
    // Those that reach further begin with a head of their own.
    if (from < 0 || isInside || reach > mostCounted) return none
    for (let start = from; start <= (reach === 0 ? from : index); start++) {
      let value = ''
      const length = countedLength(text, start, (said) => {
        pattern.lastIndex = 0
        const match = pattern.exec(said)
        value = match?.[1] ?? match?.[0] ?? ''
        return match === null || holds?.(value) === false ? 0 : match[0].length
      })
      if (length === 0) continue
      pattern.lastIndex = start
      const match = pattern.exec(text)
      const isLonger = match !== null && match[0].length > length
      if (isLonger) value = match[1] ?? match[0]
      const end = start + (isLonger ? match[0].length : length)
      add(end, value, found)
      return end
    }
    return none
  }
  return {
    text: anchor,
    at(text, index, found) {
      const start = reach === 0 ? index - back : beginning(text, index, reach)
      work.done += (index - start) >> 1
      if (start < 0 || !(isInside || beginsWord(text, start))) return otherwise(text, start, index, found)
      work.done += 8
      pattern.lastIndex = start
      const match = pattern.exec(text)
      // A backslash at the end spells the quote behind it.
      if (match === null) return otherwise(text, start, index, found)
      const value = withoutLast('\\', match[1] ?? match[0])
      const end = start + match[0].length - (match[1] ?? match[0]).length + value.length
      if (holds?.(value) === false) return end - 64
      add(end, value, found)
      return end
    },
  }
}

/** Where a token begins that has its sign at `index`; the two characters behind a percent sign belong to its escape. */
function beginning(text: string, index: number, reach: number): number {
  let start = index
  while (start > 0 && index - start < reach && has(isOfToken, text.charCodeAt(start - 1))) start--
  return text[start - 1] === '%' ? start + 2 : start
}

const isOfToken = codesOf(/[\w-]/, 128)

/** A key has line feeds, which JSON spells in its own way at each depth: the same key is one secret everywhere. */
function withLines(key: string): string {
  return key.replace(/(?:\\+r)?\\+n|\r\n?/g, '\n')
}

/** Base64 of `name:password`, as opposed to the word after a "Basic" that begins a sentence. */
function holdsNameAndPassword(encoded: string): boolean {
  const text = Buffer.from(encoded, 'base64').toString('latin1')
  return /^[\x20-\x7e\x80-\xff]*$/.test(text) && /^[^:]*:./.test(text)
}

const alphanumeric = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** Looks behind each of these letters, where a sign follows it. */
function each(letters: string, sign: string, only: Trigger['only'] & {}, at: Trigger['at']): readonly Trigger[] {
  return [...letters].map((letter) => ({ text: letter + sign, only, at }))
}

/** Tokens in parts, recognised by where a dot, slash, dash or low line stands between them. */
function dotted(): Trigger[] {
  const tried = (pattern: RegExp, text: string, start: number, found: TextRange[]): boolean => {
    if (start < 0) return false
    pattern.lastIndex = start
    const whole = pattern.exec(text)?.[0] ?? ''
    let length = whole !== '' && beginsWord(text, start) ? whole.length : 0
    if (length === 0) {
      const counted = countedLength(text, start, (said) => {
        pattern.lastIndex = 0
        return pattern.exec(said)?.[0].length ?? 0
      })
      if (counted === 0) return false
      length = Math.max(counted, whole.length)
    }
    const value = text.slice(start, start + length)
    found.push({ kind: 'api-key', start, end: start + value.length, value })
    return true
  }
  const discord = /[MNO][A-Za-z\d_-]{23,27}\.[\w-]{6}\.[\w-]{27,40}(?![\w-])/y
  const airtable = /pat[A-Za-z0-9]{14}\.[0-9a-f]{64}/y
  const asana = /[12]\/\d{12,20}(?:\/\d{12,20})?:[0-9a-f]{32}/y
  const mailgun = /[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}(?![\w-])/y
  const ngrok = /2[A-Za-z0-9]{26}_[A-Za-z0-9]{21}(?!\w)/y
  const inDiscord: Trigger['at'] = (text, index, found) => {
    for (let back = 24; back <= 28; back++) {
      const at = index + 1 - back
      if (/[MNO]/.test(text[at] ?? '') && tried(discord, text, at, found)) break
    }
    return 0
  }
  return [
    { text: 'pat', at: (text, index, found) => (tried(airtable, text, index, found), 0) },
    // Every pair of a letter and a dot would be asked: the one in the middle is recognised by the dot six characters on.
    ...each(`${alphanumeric}_-`, '.', [8, '.'], inDiscord),
    { text: '1/', at: (text, index, found) => (tried(asana, text, index, found), 0) },
    { text: '2/', at: (text, index, found) => (tried(asana, text, index, found), 0) },
    ...each('0123456789abcdef', '-', [10, '-'], (text, index, found) => (tried(mailgun, text, index - 31, found), 0)),
    ...each(alphanumeric, '_', [-26, '2'], (text, index, found) => (tried(ngrok, text, index - 26, found), 0)),
  ]
}

/** The row of an application's own family of tokens. */
export function ownFamily(head: string, of: KindFamily['of'], min: number): KindFamily {
  return { kind: 'api-key', head, of, min, max: Math.max(min, 1024) }
}

/**
 * Whether a head can be distinguished from other text: two characters of ASCII at least, none of which means something in
 * JSON.
 */
export function isHead(head: string): boolean {
  return /^[\x21-\x7e]{2,64}$/.test(head) && !/["\\]/.test(head)
}
