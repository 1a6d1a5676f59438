// Over 300 lines: the names, their signs and what a name of one word promises share one table.
import { codesOf, has } from './edges.ts'
import { Endings } from './endings.ts'
import { lookingAs, type NameClass, passes, versionNow } from './values.ts'
import { work } from './work.ts'

/** What tells from its name that a value is secret. */
export interface SecretNames {
  /** Which text values of this object key or header are secret; `undefined`: none is. */
  promise(name: string, value: unknown): ((text: string) => boolean) | undefined
  /** Whether the text value of this object key or header is secret. */
  isSecret(name: string, value: unknown): boolean
  /** As {@link isSecret}, in a query or a form. */
  isSecretQuery(name: string, value: string): boolean
  /** As {@link isSecret}, for an argument of a command. */
  isSecretFlag(flag: string): boolean
}

/** More names than the built-in ones, by class. */
export interface OwnNames {
  /** Any value. */
  readonly keys?: readonly string[]
  /** A text that is no stand-in. */
  readonly always?: readonly string[]
  /** What looks random. */
  readonly random?: readonly string[]
  /** Names that promise nothing here. */
  readonly never?: readonly string[]
}

/** Last words of names by what they promise. `dbPassword`, `DB_PASS` and `x-api-key` are cut where words begin. */
const byClass: Readonly<
  Record<Exclude<NameClass, 'own' | 'foreign' | 'typed' | 'key' | 'nested' | 'cookie' | 'entry'>, string>
> = {
  always: `
    password passwd pwd passphrase secret authorization connectionstring accesssignature authorizationcode devicecode
    codeverifier apikey secretkey accesskey privatekey encryptionkey signingkey accountkey subscriptionkey masterkey
    accesstoken authtoken refreshtoken sessiontoken idtoken bearertoken apitoken securitytoken bottoken securityanswer
    secretkeybase recoverycode keyphrase`,
  random: `
    token jwt phpsessid jsessionid auth xauth sig hmac credential credentials clientkey serverkey servicekey adminkey
    licensekey deploykey webhookkey hmackey sshkey storagekey functionskey sharedkey rootkey writekey readkey hostkey
    sendkey privatekeyid clientkeydata csrf xsrf apptoken apphash webhookurl connectsid bwsession dsn`,
  session: 'session sessionid sid ticket',
  signature: 'signature',
  pass: 'pass userpass dbpass rootpass mysqlpass smtppass ftppass adminpass',
  code: 'otp otpcode pin pincode cvv cvc cvv2 mfacode twofactorcode verificationcode securitycode passcode smscode',
  phrase: 'mnemonic seedphrase recoveryphrase mnemonicphrase secretphrase walletphrase',
}
/** Since the fourth version: names in other languages, as they are written, and short ones. */
const since: Readonly<Record<string, string>> = {
  foreign: `
    passwort kennwort wachtwoord contraseña contrasena contrasenia motdepasse lösenord losenord passord adgangskode
    salasana lozinka katasandi mậtkhẩu matkhau пароль 密码 密碼 パスワード 비밀번호 סיסמה पासवर्ड รหัสผ่าน`,
  key: 'pat',
  // What also means something else: a word, a sign, a slogan, the arms of a town.
  typed: `
    pw psk wpapsk
    clave parola parole hasło haslo heslo jelszó jelszo şifre sifre parool 口令 暗証番号 암호 κωδικός
    senha geslo`,
}
function wordsIn(words: string): string[] {
  return words.trim().split(/\s+/)
}
/** Since the fifth. */
const lately: Readonly<Record<string, string>> = {
  foreign: 'palavrapasse κωδικόςπρόσβασης كلمةالمرور كلمةالسر',
  typed: 'şİfre',
}
/** Since the sixth. */
const sixth: Readonly<Record<string, string>> = {
  foreign: `
    zugangsschlüssel geheimschlüssel apischlüssel şifrə salasõna lykilorð aðgangsorð slaptažodis kodeord
    clavesecreta llavesecreta claveapi chavesecreta chaveapi clésecrète clesecrete cléapi chiavesegreta
    парола секретныйключ ключдоступа ключапи құпиясөз 密钥 密鑰 访问令牌 秘密鍵 シークレットキー 비밀키`,
  typed: 'geheimnis секрет гасло sandi 令牌 토큰 トークン',
  code: 'totp totpcode',
  entry: 'accesscode doorcode unlockcode entrycode gatecode backupcode backupcodes recoverycodes',
  random: 'clientassertion',
}
/** Since the eighth: in settings a key is called by what uses it, `jasypt.encryptor.key`. */
const eighth: Readonly<Record<string, string>> = {
  always: 'securestring secretstring',
  random: `
    encryptorkey decryptorkey decryptionkey cipherkey cryptokey cryptographickey jwtkey jwskey jwekey aeskey authkey
    searchkey cosmoskey vaultkey signerkey encryptkey mapskey`,
}
/** Since the tenth: keys beside an API key, as Datadog, Backblaze and Mezmo call them. */
const tenth: Readonly<Record<string, string>> = { random: 'applicationkey ingestionkey ingestkey managementkey' }
/** What may stand behind a name that says it once more, or how: `password_confirmation`, `passwordRepeat`. */
const onceMore = ['confirm', 'confirmation', 'repeat', 'repeated', 'again', 'plain']
/** Names that end like a secret's and are data. */
const data =
  /(?:^|_)(?:next|prev|previous|page|continuation|sync|pagination|cursor|eos|bos|pad|unk|mask|sep|cls|stop|special|max|min|num|total|prompt|completion|input|output|cached|reasoning|public|primary|foreign|cache|sort|partition|object|routing|idempotency|publishable|site|function|method|type|thought|thinking)_(?:token|key|signature)$|(?:^|_)(?:chat|training|game)_session$/
/** Names that say whether there is one: `has_password`, `requires_secret`. */
const question = /^(?:is|has|had|needs?|requires?|uses?)_/

/** Names of query parameters that count there when the value looks random. */
const inQuery = new Set([
  'key',
  'token',
  'sig',
  'signature',
  'auth',
  'code',
  'xamzsignature',
  'xamzcredential',
  'xgoogsignature',
])

/** Schemes of credentials: an object that says it is one holds a secret. */
const schemes = ['bearer', 'basic', 'digest', 'ssws']

const namesCap = 2048
/** What it costs to look up a name beyond ASCII, beside its letters. */
const perWideName = 16

/** The names that promise a secret: the built-in ones and the application's. */
export class NameTable implements SecretNames {
  readonly #own: ReadonlyMap<string, NameClass | 'never'>
  readonly #known = new Map<string, NameClass | 'nothing'>()
  readonly #classes: ReadonlyMap<string, NameClass>
  /** Names that end like these promise as much when they are written together: `dbpassword`, `userapikey`. By their last characters. */
  readonly #always: ReadonlyMap<string, readonly (readonly [word: string, kind: NameClass])[]>
  /** Last characters of all names. */
  readonly lastLetters: ReadonlySet<string>
  /** Their ends: most signs need no more than a look. */
  readonly endings: Endings
  /** The last two letters of all names, five bits each: a name that ends otherwise promises nothing. */
  readonly #lastTwo = new Uint8Array(1 << 10)
  /** Of the finders that look. */
  readonly version: number
  /** Whether that is before the fourth. */
  readonly isBefore: boolean

  constructor({ keys = [], always: more = [], random = [], never = [] }: OwnNames = {}, version = versionNow) {
    const isBefore = version < 4
    this.version = version
    this.isBefore = isBefore
    const plain = (name: string): string => plainOf(name, isBefore)
    this.#own = new Map<string, NameClass | 'never'>([
      ...random.map((name) => [plain(name), 'random'] as const),
      ...more.map((name) => [plain(name), 'always'] as const),
      ...keys.map((name) => [plain(name), 'own'] as const),
      ...never.map((name) => [plain(name), 'never'] as const),
    ])
    const byVersion = [
      byClass,
      since,
      lately,
      sixth,
      ...(version >= 8 ? [eighth] : []),
      ...(version >= 10 ? [tenth] : []),
    ]
    const tables = byVersion.slice(0, isBefore ? 1 : version - 2)
    const rows = tables
      .flatMap((words) => Object.entries(words))
      .flatMap(([kind, words]) => wordsIn(words).map((word) => [word, kind as NameClass] as const))
    this.#classes = new Map(rows.map(([word, kind]) => [folded(word), kind]))
    const always = [...this.#classes].filter(([, kind]) => kind === 'always' || kind === 'foreign')
    this.#always = Map.groupBy(always, ([word]) => word.at(-1)!)
    const builtIn = [...rows.map(([word]) => word), ...(isBefore ? [] : onceMore)]
    const own = [...keys, ...more, ...random].map(plain)
    const all = [...builtIn, ...inQuery, 'cookie', ...own]
    const names = all.filter(({ length }) => length > 1)
    for (const name of all.map(folded)) {
      const pair = lastTwo(name)
      if (pair !== undefined) this.#lastTwo[pair] = 1
      // A name of one letter ends others behind a digit, too.
      if (pair !== undefined && (pair & 31) === 0) this.#lastTwo[behindDigit] = 1
    }
    const isSinceFifth = version >= 5
    this.endings = new Endings(version >= 8 ? [...names, ...schemes] : names, {
      mostDigits: isSinceFifth ? 2 : 1,
      isWide: version >= 6,
    })
    const spelled = isSinceFifth ? names.flatMap((name) => [name, name.normalize('NFD')]) : names
    this.lastLetters = new Set(spelled.flatMap((name) => [name.at(-1)!, name.at(-1)!.toUpperCase()]))
  }

  /** What a name promises. The same few come with every call: what was worked out is kept. */
  classOf(name: string): NameClass | undefined {
    const pair = lastTwo(name)
    if (pair !== undefined && this.#lastTwo[pair] === 0) return undefined
    // A placeholder: there is another one at each place.
    if (name.startsWith('redacted-') && isDigit[name.charCodeAt(name.length - 1)] === 1) return undefined
    // What is not known yet is cut into words.
    const cost = Math.min(name.length, 64)
    // Beyond ASCII, each letter takes longer; finders before the eighth version counted them alike.
    work.done += pair === undefined && this.version >= 8 ? 2 * cost + perWideName : cost
    const known = this.#known.get(name)
    if (known !== undefined) return known === 'nothing' ? undefined : known
    const found = this.#classOf(name)
    if (this.#known.size >= namesCap) this.#known.clear()
    if (name.length <= 64) this.#known.set(name, found ?? 'nothing')
    return found
  }

  #classOf(name: string): NameClass | undefined {
    const words = wordsOf(name, this.isBefore)
    // What is cut has no `X-` any more.
    const own = this.#own.get(beginsX.test(name) ? plainOf(name, this.isBefore) : words.join(''))
    if (own !== undefined) return own === 'never' ? undefined : own
    if (name.length > 256) return undefined
    const kind = this.#classOfWords(name, words)
    if (kind !== undefined || this.isBefore) return kind
    if (onceMore.includes(words.at(-1)!))
      return /^(always|foreign)$/.test(this.#classOfWords(name, words.slice(0, -1)) ?? '') ? 'pass' : undefined
    // `password2`, `api_key_1`: one of several; but placeholders are numbered, too.
    const isSinceFifth = this.version >= 5
    const one = (isSinceFifth ? numberedName : numberedBefore).exec(name)?.[1]
    if (one === undefined || one.includes('redacted-')) return undefined
    const numbered = this.#classOfWords(one, wordsOf(one, false))
    // The tenth pin is one of a board.
    return isSinceFifth && numbered === 'code' && /\d\d$/.test(name) ? undefined : numbered
  }

  #classOfWords(name: string, words: readonly string[]): NameClass | undefined {
    const joined = words.length > 1 ? words.join('_') : ''
    if (data.test(joined) || question.test(joined)) return undefined
    for (let from = Math.max(0, words.length - 4); from < words.length; from++) {
      let last = words[from]!
      for (let at = from + 1; at < words.length; at++) last += words[at]!
      const kind = this.#classes.get(last)
      if (kind !== undefined) return kind
    }
    const short = this.isBefore ? plainOf(name, true) : words.join('')
    const ending = this.#always.get(short.at(-1)!)?.find(([word]) => short.endsWith(word))
    if (ending !== undefined) return ending[1]
    // OPENAI_KEY, WEAVIATE_KEY: in capitals alone, for `sort_key` and `object_key` are data.
    if (/^[A-Z][A-Z0-9_]{2,}_KEY$/.test(name)) return 'random'
    return short.endsWith('cookie') ? 'cookie' : undefined
  }

  /** As {@link classOf}, behind the dashes of a flag, where every key counts. */
  classOfFlag(name: string): NameClass | undefined {
    const kind = this.classOf(name)
    if (kind !== undefined || !/(?:token|key)$/i.test(name)) return kind
    return this.isData(name) ? undefined : 'random'
  }

  /** Whether what ends like the name of a secret is data, here or everywhere. */
  isData(name: string): boolean {
    return data.test(wordsOf(name, this.isBefore).join('_')) || this.#own.get(plainOf(name, this.isBefore)) === 'never'
  }

  promise(name: string, _value: unknown): ((text: string) => boolean) | undefined {
    const kind = this.classOf(name)
    return kind === undefined ? undefined : (text) => this.#passes(kind, text)
  }

  isSecret(name: string, value: unknown): boolean {
    const kind = this.classOf(name)
    return kind !== undefined && typeof value === 'string' && this.#passes(kind, value)
  }

  #passes(kind: NameClass, text: string): boolean {
    const said = text.slice(schemeOf(text).length)
    return this.version >= 10 ? passes(kind, said, false) : lookingAs(this.version, () => passes(kind, said, false))
  }

  isSecretQuery(name: string, value: string): boolean {
    return this.isSecret(name, value) || this.isKeyInQuery(name, value)
  }

  /** Whether the name promises a key in a query alone, and the value is long enough for one. */
  isKeyInQuery(name: string, value: string): boolean {
    if (value.length < 16) return false
    const pair = lastTwo(name)
    if ((pair !== undefined && !inQueryLastTwo.has(pair)) || !/\d/.test(value)) return false
    const short = plainOf(name, this.isBefore)
    return inQuery.has(short) && this.#own.get(short) !== 'never'
  }

  isSecretFlag(flag: string): boolean {
    return this.classOf(flag.replace(/^-+/, '')) !== undefined || /(?:token|key|cookie)$/i.test(flag)
  }
}

/** In the place of two letters: a digit stands before the last one. */
const behindDigit = 0x3ff

/** The last two letters of a name, no matter which signs and digits follow them; `undefined` where another character stands. */
function lastTwo(name: string): number | undefined {
  let last = 0
  for (let at = name.length - 1; at >= 0; at--) {
    const code = name.charCodeAt(at)
    if (code > 127) return undefined
    if (last !== 0 && isDigit[code] === 1) return behindDigit
    if (isLetter[code] === 0) continue
    if (last !== 0) return (last << 5) | (code & 31)
    last = code & 31
  }
  return last << 5
}

const [isLetter, isDigit] = [codesOf(/[A-Za-z]/, 128), codesOf(/\d/, 128)]
const inQueryLastTwo = new Set([...inQuery].map(lastTwo))

const isOneWord = /^[a-z\d]+$/
const [numberedBefore, numberedName] = [/^(.*[^\d_.-])[_.-]?\d$/s, /^(.*[^\d_.-])[_.-]?\d{1,2}$/s]

const beginsX = /^x-/i
const small = 0x61
/**
 * Words of a name in lower case, without the `X-` some headers begin with. Sign by sign: names of their own come by the thousand,
 * and patterns write each several times.
 */
export function wordsOf(name: string, isBefore: boolean): readonly string[] {
  const text = isBefore ? name : folded(name)
  const words: string[] = []
  let [begin, before] = [-1, 0]
  for (let at = beginsX.test(text) ? 2 : 0; at <= text.length; at++) {
    const code = text.charCodeAt(at)
    const goesOn = has(isLetter, code) || has(isDigit, code) || (!isBefore && code > 127)
    const isNext =
      has(isLetter, code) && code < small && (has(isDigit, before) || (before >= small && has(isLetter, before)))
    if (begin !== -1 && (!goesOn || isNext)) {
      words.push(text.slice(begin, at).toLowerCase())
      begin = -1
    }
    if (goesOn && begin === -1) begin = at
    before = code
  }
  return words
}

const beginsScheme = codesOf(/[abst]/i, 128)

/** The scheme before credentials, such as `Bearer `: in a text only what follows is the secret, so in a field as well. */
export function schemeOf(value: string): string {
  if (!has(beginsScheme, value.charCodeAt(0))) return ''
  return /^(?:bearer|basic|token|bot|apikey|ssws)\s{1,8}(?=\S+$)/i.exec(value)?.[0] ?? ''
}

function plainOf(name: string, isBefore: boolean): string {
  if (isOneWord.test(name)) return name
  if (isBefore) return name.toLowerCase().replace(/[^a-z0-9]/g, '')
  return folded(name)
    .toLowerCase()
    .replace(/[^a-z0-9\x80-\uffff]/g, '')
}

/** Without accents: `contraseña` is also written `contrasena`. */
function folded(name: string): string {
  if (/^[\0-\x7f]*$/.test(name)) return name
  return name
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFC')
}
