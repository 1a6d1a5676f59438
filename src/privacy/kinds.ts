import { HarvestError, neutralLine } from '../errors/index.ts'
import { beyondBounds } from '../tape/index.ts'
import type { FindersInUse, SignedFinder } from './engine.ts'
import { alphabets, type KindFamily } from './families.ts'
import { answerFor, guardOf, refuse } from './foreign.ts'
import { findIbans, findIps, findPhones, findSsns, findUrlEmails, ibanTriggers } from './personal.ts'
import { patienceMs, slowText } from './pace.ts'
import { rulesForTape } from './rules-for-tape.ts'
import { isHead, ownFamily } from './tokens.ts'
import type { Finder, RedactorOptions, RedactRule, TextRange } from './types.ts'

/** Kinds of tokens, in the order in which they came. */
const tokenKinds: readonly string[] = [
  ...['anthropic-key', 'openai-key', 'google-key', 'aws-key', 'github-token', 'gitlab-token', 'slack-token', 'webhook'],
  ...['stripe-key', 'npm-token', 'huggingface-token', 'sendgrid-key', 'twilio-key', 'api-key', 'jwt', 'bearer-token'],
  ...['basic-auth', 'private-key'],
]

/** Kinds that are found unless switched off, in order of how much is known by them. */
export const kindsOn: readonly string[] = [...tokenKinds, 'email', 'card', 'iban', 'url-password', 'secret']

/** Kinds that are found only when switched on. */
export const kindsOff: readonly string[] = ['phone', 'ssn', 'ip']

/** Parts of values that placeholders may keep. */
const keepable: readonly string[] = ['email-domain', 'card-length', 'card-last4']

/** Whether values of a kind open something: they are replaced now and then, and nothing is decided by them. */
export function isCredential(kind: string): boolean {
  return tokenKinds.includes(kind) || kind === 'url-password' || kind === 'secret'
}

/** Whether values of a kind tell by themselves what they are, without a word before them. */
export function isToken(kind: string): boolean {
  return tokenKinds.includes(kind) && kind !== 'bearer-token' && kind !== 'basic-auth'
}

/** What a redactor looks for. */
export interface Kinds {
  /** Every kind that may become a placeholder, with the template of rules that have one. */
  readonly templates: ReadonlyMap<string, string | undefined>
  /** Everything the options ask to find in a text. */
  readonly find: Finder
}

/**
 * Reads the options, once.
 *
 * @throws HarvestError `HARVEST_PRIVACY_OPTION` for an unknown kind or a rule that cannot work: a typo must not
 * let a secret through
 */
export function kindsOf(options: RedactorOptions, { cards, emails, finder }: FindersInUse): Kinds {
  const { rules = [], off = [], on = [], keep = [], allow = [] } = options
  const known = [...kindsOn, ...kindsOff]
  const stranger = [...off, ...on].find((kind) => !known.includes(kind))
  if (stranger !== undefined) throw wrongOption(`there is no kind "${stranger}"`, `kinds: ${known.join(', ')}`)
  const unkeepable = keep.find((part) => !keepable.includes(part))
  if (unkeepable !== undefined) throw wrongOption(`nothing called "${unkeepable}" can be kept`, keepable.join(', '))
  const beyond = beyondBounds(rulesForTape(options))
  if (beyond !== undefined) throw wrongOption(beyond, 'write fewer rules, or shorter ones')
  for (const rule of rules) {
    checkRule(rule, known)
    answerFor(rule.pattern)
  }
  const isOn = (kind: string): boolean => (kindsOn.includes(kind) || on.includes(kind)) && !off.includes(kind)
  const own = rules.map(finderOf)
  const personal: readonly SignedFinder[] = [
    ...(isOn('email') ? [['@', emails] as const] : []),
    ...(isOn('email') ? [['%', findUrlEmails] as const] : []),
    ...(isOn('card') ? [['', cards] as const] : []),
    ...(isOn('iban') ? [['', findIbans] as const] : []),
    ...(isOn('phone') ? [['+', findPhones] as const] : []),
    ...(isOn('ssn') ? [['-', findSsns] as const] : []),
    ...(isOn('ip') ? [['.', findIps] as const] : []),
  ]
  for (const text of allow) checkAllowed(text, [...own, ...personal.map(([, find]) => find)])
  const around = {
    first: own.map((find) => ['', except(allow, find)] as const),
    personal: personal.map(([sign, find]) => [sign, except(allow, find)] as const),
  }
  // In one pass with everything else.
  const inWalk = {
    ...around,
    personal: around.personal.filter((_, at) => personal[at]![1] !== findIbans),
    triggers: isOn('iban') ? ibanTriggers(new Set(allow)) : [],
  }
  return {
    templates: new Map<string, string | undefined>([
      ...known.map((kind) => [kind, undefined] as const),
      ...rules.map(({ kind, placeholder }) => [kind, placeholder] as const),
    ]),
    find: finder({ isOn, own: familiesOf(options), around, inWalk }),
  }
}

/**
 * Whoever calls this from JavaScript may put a pattern where a name belongs.
 *
 * @throws HarvestError `HARVEST_PRIVACY_OPTION`
 */
export function checkLists({ headers, keys, off, on, keep, allow, names = {} }: RedactorOptions): void {
  const { always, random, never } = names
  const lists = {
    headers,
    keys,
    off,
    on,
    keep,
    allow,
    'names.always': always,
    'names.random': random,
    'names.never': never,
  }
  for (const [name, list] of Object.entries<unknown>(lists)) {
    const isList = list === undefined || (Array.isArray(list) && list.every((one) => typeof one === 'string'))
    if (!isList)
      throw wrongOption(`${name} is not a list of texts`, "write each name whole, in quotes: ['x-order-channel']")
  }
}

/** The application's own families of tokens. */
function familiesOf({ families = [] }: RedactorOptions): readonly KindFamily[] {
  return families.map(({ head, of, min }) => {
    if (!isHead(head)) throw wrongOption(`"${neutralLine(head, 60)}" cannot be the head of a family`, 'acme_')
    if (!(of in alphabets))
      throw wrongOption(`there are no characters "${neutralLine(of, 60)}"`, Object.keys(alphabets).join(', '))
    if (!Number.isInteger(min) || min < 8 || min > 1024)
      throw wrongOption(`${min} cannot be the least length behind "${head}"`, 'a whole number from 8 to 1024')
    return ownFamily(head, of, min)
  })
}

function except(allowed: readonly string[], find: Finder): Finder {
  if (allowed.length === 0) return find
  const values = new Set(allowed)
  return (text) => find(text).filter(({ value }) => !values.has(value))
}

function finderOf({ kind, pattern }: RedactRule): Finder {
  const flags = pattern.flags.includes('d') ? pattern.flags : `${pattern.flags}d`
  const indexed = new RegExp(pattern.source, flags)
  const find = (text: string): readonly TextRange[] => {
    const found: TextRange[] = []
    for (const match of text.matchAll(indexed)) {
      const [start, end] = match.indices?.groups?.['secret'] ?? match.indices![0]!
      if (end > start) found.push({ kind, start, end, value: text.slice(start, end) })
    }
    return found
  }
  const guard = guardOf(pattern)
  if (guard === undefined) return find
  const watch = guard.watch()
  return (text) => {
    const found = watch(text.length, () => find(text))
    if (found === undefined) return refuse(pattern, slowRule(kind, pattern, 'a text of the run'))
    return found
  }
}

function checkRule({ kind, pattern, placeholder }: RedactRule, known: readonly string[]): void {
  if (!/^[a-z]+(?:-[a-z]+)*$/.test(kind))
    throw wrongOption(`"${kind}" cannot be a kind`, 'use lower-case words and dashes')
  if (known.includes(kind)) throw wrongOption(`there is a built-in kind "${kind}"`, 'choose another name for the rule')
  if (!pattern.flags.includes('g'))
    throw wrongOption(`the pattern of "${kind}" is not global`, `write ${pattern.toString()}g`)
  const slow = slowText(pattern)
  if (slow !== undefined) {
    throw slowRule(kind, pattern, `64 KB of ${slow}`)
  }
  if (placeholder === undefined) return
  const parts = placeholder.split('#')
  const isApart =
    parts.length === 2 &&
    parts.some((part) => /[A-Za-z]{3}/.test(part)) &&
    !/\d$/.test(parts[0]!) &&
    !/^\d/.test(parts[1]!)
  if (!isApart || /["\\\p{Cc}]/u.test(placeholder)) {
    throw wrongOption(
      `"${placeholder}" cannot be the placeholder of "${kind}"`,
      'use letters and one # for the number, no quotes or backslashes: customer-#',
    )
  }
}

/** Half an address would allow nothing, and whoever wrote it would think that it does. */
function checkAllowed(text: string, finders: readonly Finder[]): void {
  const isWhole = finders.some((find) => find(text).some(({ value }) => value === text))
  if (!isWhole)
    throw wrongOption(
      `"${neutralLine(text, 60)}" in allow is no whole e-mail address, number or match of a rule of yours`,
      'write each text as it is found: help@shop.example',
    )
}

function slowRule(kind: string, pattern: RegExp, text: string): Error {
  const problem = `the pattern of "${kind}" takes more than ${patienceMs} ms for ${text}`
  return (
    guardOf(pattern)?.refusal(problem) ??
    wrongOption(
      problem,
      'bound what repeats, as in \\w{1,64} for \\w+, or write a family: families: [{ head: "acme_", of: "word", min: 32 }]',
    )
  )
}

function wrongOption(problem: string, fix: string): HarvestError {
  return new HarvestError('HARVEST_PRIVACY_OPTION', {
    what: 'Invalid redaction options',
    where: { problem },
    fix: [fix],
  })
}
