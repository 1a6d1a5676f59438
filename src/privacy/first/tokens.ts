import { beginsToken } from '../edges.ts'
import { rarest } from '../rare.ts'
import type { Finder, TextRange } from '../types.ts'

/** Tokens that tell what they are by how they begin. */
interface TokenRule {
  readonly kind: string
  /** How the token begins; looked for first, since it is cheap. */
  readonly heads: readonly string[]
  /** Sticky, tried where a head stands. The secret is group 1, or all of it. Every repetition is bounded. */
  readonly pattern: RegExp
  /** Weeds out words and names that only begin like a token. */
  readonly holds?: (secret: string) => boolean
  /** The head is the end of a word. */
  readonly isInside?: true
  /** The head tells nothing about other places where the same secret stands. */
  readonly contextual?: true
}

const hasDigit = (secret: string): boolean => /\d/.test(secret)
// A slug such as sk-learn-pipeline has neither digits nor capitals.
const isRandom = (secret: string): boolean => /[\dA-Z]/.test(secret.slice(4))
// A name that begins like a key, such as `dapi-client-for-node-24`, goes on in words.
const isMixed = (secret: string): boolean =>
  /[A-Za-z]\d|\d[A-Za-z]/.test(secret.slice(4)) && !/(?:[-.][a-z]+){3}/.test(secret)

const rules: readonly TokenRule[] = [
  { kind: 'anthropic-key', heads: ['sk-ant-'], pattern: /sk-ant-[\w-]{16,1024}/y },
  { kind: 'openai-key', heads: ['sk-'], pattern: /sk-(?!ant-)[\w-]{20,1024}/y, holds: isRandom },
  { kind: 'google-key', heads: ['AIza'], pattern: /AIza[\w-]{30,60}(?![\w-])/y },
  { kind: 'google-key', heads: ['ya29.', 'GOCSPX-'], pattern: /(?:ya29\.|GOCSPX-)[\w-]{20,4096}/y },
  // Refresh tokens and authorization codes.
  { kind: 'google-key', heads: ['1//0', '4/0A'], pattern: /(?:1\/\/0|4\/0A)[\w-]{30,1024}/y },
  {
    kind: 'aws-key',
    heads: ['AKIA', 'ASIA', 'ABIA', 'ACCA'],
    pattern: /A(?:KI|SI|BI|CC)A[A-Z0-9]{16}(?![A-Za-z0-9])/y,
  },
  {
    kind: 'github-token',
    heads: ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_', 'github_pat_'],
    pattern: /(?:gh[pousr]|github_pat)_\w{20,255}/y,
  },
  {
    kind: 'gitlab-token',
    heads: ['glpat-', 'gldt-', 'glrt-', 'glptt-', 'glcbt-', 'glimt-', 'glft-', 'glsoat-', 'gloas-', 'glagent-'],
    pattern: /gl(?:pat|dt|rt|ptt|cbt|imt|ft|soat|oas|agent)-[\w.-]{16,255}/y,
  },
  { kind: 'slack-token', heads: ['xox', 'xapp-'], pattern: /(?:xox[a-z]|xapp)-[A-Za-z0-9-]{10,512}/y, holds: hasDigit },
  {
    kind: 'slack-token',
    heads: ['hooks.slack.com/'],
    pattern: /hooks\.slack\.com\/(?:services|workflows)\/([A-Za-z0-9/]{20,255})/y,
  },
  {
    kind: 'webhook',
    heads: ['discord.com/api/webhooks/', 'discordapp.com/api/webhooks/'],
    pattern: /discord(?:app)?\.com\/api\/webhooks\/(\d{10,24}\/[\w-]{20,255})/y,
  },
  {
    kind: 'webhook',
    heads: ['.webhook.office.com/webhookb2/'],
    pattern: /\.webhook\.office\.com\/webhookb2\/([\w@/-]{20,512})/y,
    isInside: true,
  },
  {
    kind: 'stripe-key',
    heads: ['sk_live_', 'sk_test_', 'rk_live_', 'rk_test_', 'whsec_'],
    pattern: /(?:[sr]k_(?:live|test)|whsec)_[A-Za-z0-9+/=]{10,255}/y,
  },
  { kind: 'npm-token', heads: ['npm_'], pattern: /npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])/y },
  { kind: 'huggingface-token', heads: ['hf_'], pattern: /hf_[A-Za-z0-9]{30,64}(?![A-Za-z0-9])/y },
  { kind: 'sendgrid-key', heads: ['SG.'], pattern: /SG\.[\w-]{16,64}\.[\w-]{16,128}/y },
  { kind: 'twilio-key', heads: ['SK', 'AC'], pattern: /(?:SK|AC)[0-9a-f]{32}(?![A-Za-z0-9])/y },
  {
    kind: 'api-key',
    heads: [
      'gsk_',
      'xai-',
      'pplx-',
      'tvly-',
      'lsv2_',
      'pcsk_',
      'lin_api_',
      'ntn_',
      'shpat_',
      'shpss_',
      'shpca_',
      'dop_v1_',
      'doo_v1_',
      'dor_v1_',
      'r8_',
      'jina_',
      'fc-',
      'e2b_',
      'pypi-',
      'dckr_pat_',
      'hvs.',
      'hvb.',
      'glsa_',
      'glc_',
      'figd_',
      'sbp_',
      'nfp_',
      'rubygems_',
      'pscale_pw_',
      'pscale_tkn_',
      'dapi',
      'NRAK-',
      'PMAK-',
      'sntrys_',
      'sntryu_',
      'ATATT3',
      'ATCTT3',
      'sq0atp-',
      'sq0csp-',
      'HRKU-',
      'dp.st.',
      'dp.pt.',
      'AGE-SECRET-KEY-1',
    ],
    pattern:
      /(?:gsk_|xai-|pplx-|tvly-|lsv2_|pcsk_|lin_api_|ntn_|shpat_|shpss_|shpca_|dop_v1_|doo_v1_|dor_v1_|r8_|jina_|fc-|e2b_|pypi-|dckr_pat_|hvs\.|hvb\.|glsa_|glc_|figd_|sbp_|nfp_|rubygems_|pscale_pw_|pscale_tkn_|dapi|NRAK-|PMAK-|sntrys_|sntryu_|ATATT3|ATCTT3|sq0atp-|sq0csp-|HRKU-|dp\.st\.|dp\.pt\.|AGE-SECRET-KEY-1)(?=[\w.=-]{0,64}\d)[\w.=-]{24,1024}/y,
    holds: isMixed,
  },
  { kind: 'api-key', heads: ['bot'], pattern: /bot(\d{8,12}:[\w-]{30,64})/y },
  { kind: 'jwt', heads: ['eyJ'], pattern: /eyJ[\w-]{5,65536}\.eyJ[\w-]{5,65536}\.[\w-]{5,65536}/y },
  {
    kind: 'bearer-token',
    heads: ['Bearer ', 'bearer ', 'BEARER ', 'Bearer%20'],
    pattern: /bearer(?:[ ]|%20){1,4}([\w.~+/-]{8,65536}={0,2})/iy,
    holds: hasDigit,
    contextual: true,
  },
  {
    kind: 'basic-auth',
    heads: ['Basic ', 'basic ', 'Basic%20'],
    pattern: /basic(?:[ ]|%20){1,4}([A-Za-z0-9+/]{6,4096}={0,2})/iy,
    holds: holdsNameAndPassword,
    contextual: true,
  },
  {
    kind: 'private-key',
    heads: ['-----BEGIN '],
    // Ends with its END line, or where text begins that cannot be part of a key: one cut off is a secret all the same.
    pattern:
      /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[\w+/=\s\\:,.]|-(?!----)){0,20000}(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?/y,
  },
]

/** Kinds {@link findTokens} knows. */
export const tokenKinds: readonly string[] = [...new Set(rules.map(({ kind }) => kind))]

/** A head with its rarest character, by which it is looked for: a search for one character is many times cheaper. */
interface Head {
  readonly text: string
  readonly offset: number
  readonly rule: TokenRule
}

/** Heads by their rarest character, and by the one before it or, where a head begins with it, the one after. */
interface Pivot {
  readonly character: string
  readonly before: readonly (readonly Head[] | undefined)[]
  readonly after: readonly (readonly Head[] | undefined)[]
}

const pivots = pivotsOf(rules)

/** Finds vendor keys, JSON web tokens, authorization values and private keys. Linear in the text. */
export const findTokens: Finder = (text) => {
  const found: TextRange[] = []
  for (let nth = 0; nth < pivots.length; nth++) {
    const { character, before, after } = pivots[nth]!
    for (let at = text.indexOf(character); at !== -1; at = text.indexOf(character, at + 1)) {
      const behind = before[text.charCodeAt(at - 1)]
      if (behind !== undefined) tryHeads(text, at, behind, found)
      const ahead = after[text.charCodeAt(at + 1)]
      if (ahead !== undefined) tryHeads(text, at, ahead, found)
    }
  }
  return found
}

function tryHeads(text: string, pivot: number, candidates: readonly Head[], found: TextRange[]): void {
  for (const { text: head, offset, rule } of candidates) {
    const start = pivot - offset
    if (start < 0 || !text.startsWith(head, start) || !(rule.isInside || beginsToken(text, start))) continue
    rule.pattern.lastIndex = start
    const match = rule.pattern.exec(text)
    const value = match?.[1] ?? match?.[0]
    if (match === null || value === undefined || rule.holds?.(value) === false) continue
    const from = match[1] === undefined ? start : start + match[0].lastIndexOf(match[1])
    found.push({
      kind: rule.kind,
      start: from,
      end: from + value.length,
      value: rule.kind === 'private-key' ? withLines(value) : value,
      ...(rule.contextual && { contextual: true }),
    })
  }
}

function pivotsOf(from: readonly TokenRule[]): readonly Pivot[] {
  const all = new Map<string, { character: string; before: Head[][]; after: Head[][] }>()
  for (const rule of from) {
    for (const text of rule.heads) {
      const offset = rarest(text)
      const character = text[offset]!
      const pivot = all.get(character) ?? { character, before: [], after: [] }
      all.set(character, pivot)
      const [side, neighbour] =
        offset > 0 ? [pivot.before, text.charCodeAt(offset - 1)] : [pivot.after, text.charCodeAt(1)]
      ;(side[neighbour] ??= []).push({ text, offset, rule })
    }
  }
  return [...all.values()]
}

/** A key has line feeds, which JSON spells in its own way at each depth: the same key is one secret everywhere. */
function withLines(key: string): string {
  return key.replace(/(?:\\+r)?\\+n|\r\n?/g, '\n')
}

/** Base64 of `name:password`, as opposed to the word after a "Basic" that begins a sentence. */
function holdsNameAndPassword(encoded: string): boolean {
  const text = Buffer.from(encoded, 'base64').toString('latin1')
  return /^[\x20-\x7e\x80-\xff]*$/.test(text) && /^[^:]*:./.test(text)
}
