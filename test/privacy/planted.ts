/*
 * Two hundred invented secrets, the same in every process. Joined from parts so that no scanner takes this file for a
 * leak.
 */
import { createHash } from 'node:crypto'

/** A secret somebody planted. */
export interface Planted {
  readonly class: string
  /** Unique. */
  readonly id: string
  /** The name it stands under: a field, a header, a parameter. Absent when it is known by itself. */
  readonly name?: string
  /** As it stands there. */
  readonly value: string
  /** What of it must be nowhere afterwards. */
  readonly core: string
}

const lower = 'abcdefghijklmnopqrstuvwxyz'
const digits = '0123456789'
const alphabets = {
  word: lower + lower.toUpperCase() + digits,
  base64: `${lower}${lower.toUpperCase()}${digits}+/`,
  url: `${lower}${lower.toUpperCase()}${digits}-_`,
  hex: '0123456789abcdef',
  capitals: lower.toUpperCase() + digits,
  digits,
}
const join = (...parts: readonly string[]): string => parts.join('')

/** Characters that look random, of which one at least is a digit, from a seed. */
function random(seed: string, length: number, alphabet: keyof typeof alphabets = 'word'): string {
  const letters = alphabets[alphabet]
  let text = ''
  for (let block = 0; text.length < length; block++)
    for (const byte of createHash('sha256').update(`${seed} ${block}`).digest()) text += letters[byte % letters.length]
  // A letter first and last, a digit among them: as the real ones are.
  return `${text.slice(0, length - 2)}7${alphabet === 'digits' ? '1' : alphabet === 'capitals' ? 'Q' : 'b'}`
}

type Sketch = Pick<Planted, 'value'> & Partial<Pick<Planted, 'name' | 'core'>>

const classes: Readonly<Record<string, (seed: string, at: number) => Sketch>> = {
  openai: (s, i) => ({
    value: [
      join('sk-', 'proj-', random(s, 60, 'url')),
      join('sk-', random(s, 48)),
      join('sk-', 'svcacct-', random(s, 40, 'url')),
      join('sk-', 'or-v1-', random(s, 64, 'hex')),
    ][i % 4]!,
  }),
  anthropic: (s) => ({ value: join('sk-', 'ant-api03-', random(s, 80, 'url'), 'AA') }),
  google: (s, i) => ({
    value: [
      join('AI', 'za', 'Sy', random(s, 33)),
      join('ya', '29.', random(s, 60, 'url')),
      join('GOC', 'SPX-', random(s, 28)),
      join('1/', '/0', random(s, 40, 'url')),
    ][i % 4]!,
  }),
  aws: (s, i) =>
    i % 2 === 0
      ? { value: join('AK', 'IA', random(s, 16, 'capitals')) }
      : { name: 'aws_secret_access_key', value: random(s, 40, 'base64') },
  'aws-session': (s) => ({ name: 'aws_session_token', value: random(s, 120, 'base64') }),
  github: (s, i) => ({
    value: [
      join('gh', 'p_', random(s, 36)),
      join('gh', 'o_', random(s, 36)),
      join('gh', 's_', random(s, 36)),
      join('github', '_pat_', random(s, 22), '_', random(s, 59)),
    ][i % 4]!,
  }),
  gitlab: (s, i) => ({
    value: [
      join('gl', 'pat-', random(s, 20, 'url')),
      join('gl', 'ptt-', random(s, 40, 'hex')),
      join('gl', 'cbt-', random(s, 20, 'url')),
      join('glr', 't-', random(s, 20, 'url')),
    ][i % 4]!,
  }),
  slack: (s, i) => ({
    value: [
      join('xo', 'xb-', random(s, 12, 'digits'), '-', random(`${s}b`, 12, 'digits'), '-', random(s, 24)),
      join('xo', 'xp-', random(s, 60)),
      join('xap', 'p-1-', random(s, 40)),
      join('xo', 'xe.xo', 'xp-1-', random(s, 80)),
    ][i % 4]!,
  }),
  stripe: (s, i) => ({
    value: [
      join('sk', '_live_', random(s, 24)),
      join('rk', '_live_', random(s, 24)),
      join('whs', 'ec_', random(s, 32)),
      join('sk', '_test_', random(s, 99)),
    ][i % 4]!,
  }),
  npm: (s) => ({ value: join('np', 'm_', random(s, 36)) }),
  pypi: (s) => ({ value: join('py', 'pi-', 'AgEIcHlwaS5vcmc', random(s, 120, 'url')) }),
  twilio: (s, i) =>
    i % 2 === 0 ? { value: join('S', 'K', random(s, 32, 'hex')) } : { name: 'auth_token', value: random(s, 32, 'hex') },
  sendgrid: (s) => ({ value: join('S', 'G.', random(s, 22, 'url'), '.', random(`${s}b`, 43, 'url')) }),
  'other-vendors': (s, i) => ({
    value: [
      join('gs', 'k_', random(s, 52)),
      join('h', 'f_', random(s, 34)),
      join('dop', '_v1_', random(s, 64, 'hex')),
      join('shp', 'at_', random(s, 32, 'hex')),
      join('dck', 'r_pat_', random(s, 27, 'url')),
      join('hv', 's.', random(s, 90, 'url')),
      join('gl', 'sa_', random(s, 32), '_', random(s, 8, 'hex')),
      join('ATA', 'TT3', random(s, 180, 'url')),
    ][i % 8]!,
  }),
  jwt: (s) => {
    const part = (text: string): string => Buffer.from(text).toString('base64url')
    return {
      value: join(
        part('{"alg":"HS256","typ":"JWT"}'),
        '.',
        part(`{"sub":"${random(s, 12)}","iat":1772600767}`),
        '.',
        random(s, 43, 'url'),
      ),
    }
  },
  'private-key': (s, i) => {
    const kind = ['', 'RSA ', 'EC ', 'OPENSSH '][i % 4]!
    const body = random(s, 192, 'base64').replace(/.{64}/g, '$&\n')
    return {
      value: join('-----BEGIN ', kind, 'PRIVATE KEY-----\n', body, '-----END ', kind, 'PRIVATE KEY-----'),
      core: body.slice(0, 60),
    }
  },
  'basic-auth-url': (s) => {
    const core = random(s, 14)
    return { value: `https://deploy:${core}@git.shop.example/repo.git`, core }
  },
  'database-url': (s, i) => {
    const core = random(s, 16)
    return {
      value: `${['postgres', 'mysql', 'mongodb+srv', 'redis', 'amqp'][i % 5]}://app:${core}@db-${i}.shop.example:5432/shop?sslmode=require`,
      core,
    }
  },
  'bearer-header': (s) => {
    const core = random(s, 40, 'url')
    return { name: 'Authorization', value: `Bearer ${core}`, core }
  },
  'basic-header': (s) => {
    const core = Buffer.from(`api:${random(s, 20)}`).toString('base64')
    return { name: 'Authorization', value: `Basic ${core}`, core }
  },
  'cookie-header': (s) => {
    const core = random(s, 32)
    return { name: 'Cookie', value: `theme=dark; sid=${core}`, core }
  },
  'set-cookie-header': (s) => {
    const core = random(s, 32)
    return { name: 'Set-Cookie', value: `sid=${core}; Path=/; HttpOnly`, core }
  },
  'api-key-header': (s, i) => ({
    name: ['x-api-key', 'api-key', 'X-Goog-Api-Key', 'Ocp-Apim-Subscription-Key'][i % 4]!,
    value: random(s, 32),
  }),
  'query-key': (s, i) => {
    const core = random(s, 36)
    const name = ['api_key', 'access_token', 'key', 'sig', 'code', 'token', 'X-Amz-Signature'][i % 7]!
    return { value: `https://api.shop.example/v1/items?page=2&${name}=${core}`, core }
  },
  password: (s, i) => ({
    name: ['password', 'db_password', 'userPassword', 'passwd'][i % 4]!,
    value: `Tr0ub4dor-${random(s, 6)}`,
  }),
  'client-secret': (s, i) => ({
    name: ['client_secret', 'clientSecret', 'signing_key', 'encryptionKey'][i % 4]!,
    value: random(s, 32),
  }),
  webhook: (s, i) => {
    const core = random(s, 40)
    return {
      value: [
        `https://hooks.slack.com/services/T${random(s, 8, 'capitals')}/B${random(`${s}b`, 8, 'capitals')}/${core}`,
        `https://discord.com/api/webhooks/${random(s, 18, 'digits')}/${core}`,
        `https://shop.webhook.office.com/webhookb2/${random(s, 32, 'hex')}@${random(`${s}c`, 32, 'hex')}/IncomingWebhook/${core}`,
        `https://api.telegram.org/bot${random(s, 10, 'digits')}:${core}/sendMessage`,
      ][i % 4]!,
      core,
    }
  },
  'oauth-code': (s) => ({ name: 'code', value: `4/0A${random(s, 60, 'url')}` }),
  'refresh-token': (s, i) => ({ name: ['refresh_token', 'refreshToken'][i % 2]!, value: random(s, 48, 'url') }),
  card: (_, i) => ({
    value: [
      '4111111111111111',
      '5555555555554444',
      '378282246310005',
      '6011111111111117',
      '3566002020360505',
      '4012 8888 8888 1881',
      '5105-1051-0510-5100',
    ][i % 7]!,
  }),
  iban: (_, i) => ({
    value: [
      'DE89370400440532013000',
      'GB82WEST12345698765432',
      'FR1420041010050500013M02606',
      'NL91ABNA0417164300',
      'CH9300762011623852957',
      'ES91 2100 0418 4502 0005 1332',
      'AT611904300234573201',
    ][i % 7]!,
  }),
  email: (s, i) => ({
    value: `jane.${random(s, 8).toLowerCase()}${['', '+orders', '_x'][i % 3]}@mail-${i}.shop.example.com`,
  }),
}

/** Classes of people's data; all others are secrets. */
export const personal: ReadonlySet<string> = new Set(['card', 'iban', 'email'])

const perClass = 7

/** At least 200, seven of each class, told apart by what they hold. */
export const planted: readonly Planted[] = Object.entries(classes).flatMap(([name, sketch]) =>
  Array.from({ length: perClass }, (_, at): Planted => {
    const { value, core = value, ...rest } = sketch(`${name} ${at}`, at)
    return { class: name, id: `${name}-${at}`, value, core, ...rest }
  }),
)

/** As a field of a JSON object; what has no name stands in a sentence. */
export function asField({ name, value }: Planted): Record<string, unknown> {
  return name === undefined ? { note: `Use ${value} for this.` } : { [name]: value }
}

/** As text. */
export function asText({ name, value }: Planted): string {
  return name === undefined ? `Use ${value}, please.` : `${name}: ${value}`
}

/** As a pair of a form, a query, a command line. */
export function asPair({ name = 'note', value }: Planted): [name: string, value: string] {
  return [name, value]
}

/** The planted secrets a text still holds, whole or in a piece that means something, plain or as URLs and JSON spell it. */
export function stillIn(text: string): readonly Planted[] {
  return planted.filter(({ core }) => piecesOf(core).some((piece) => text.includes(piece)))
}

const pieces = new Map<string, readonly string[]>()

function piecesOf(core: string): readonly string[] {
  const known = pieces.get(core)
  if (known !== undefined) return known
  const length = Math.min(14, core.length)
  const middle = Math.floor((core.length - length) / 2)
  const plain = [...new Set([core.slice(0, length), core.slice(middle, middle + length), core.slice(-length)])]
  const all = [...new Set(plain.flatMap((one) => [one, encodeURIComponent(one), JSON.stringify(one).slice(1, -1)]))]
  pieces.set(core, all)
  return all
}
