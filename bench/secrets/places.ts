import zlib from 'node:zlib'

/** A place in which some program writes a name and a value. */
export interface Place {
  readonly id: string
  readonly write: (name: string, value: string) => string | Buffer
  /** What whoever reads the place gets; throws when it cannot be read any more. */
  readonly read: (written: string | Buffer) => string
  /** Which values the place can carry. Default all. */
  readonly takes?: (value: string) => boolean
  /** It has no name. */
  readonly isNameless?: true
  /** What it is packed with: the body of a request. */
  readonly coding?: string
}

const json = JSON.stringify
const isOneLine = (value: string): boolean => !/[\n"'\\]/.test(value)
const isOneWord = (value: string): boolean => isOneLine(value) && !/\s/.test(value)
const escape = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
const all = (text: string): string => text.split('').map(escape).join('')
const odd = (text: string): string =>
  json(text)
    .slice(1, -1)
    .replace(/[<>&='+/@:]/g, (sign) => (sign === '/' ? '\\/' : escape(sign)))
const entities: readonly (readonly [string, string])[] = [
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ["'", '&#39;'],
  ['/', '&#x2F;'],
]
const toHtml = (text: string): string => entities.reduce((now, [sign, entity]) => now.replaceAll(sign, entity), text)
const fromHtml = (text: string): string =>
  entities.toReversed().reduce((now, [sign, entity]) => now.replaceAll(entity, sign), text)
const flag = (name: string): string => name.toLowerCase().replaceAll('_', '-')

/** All texts and keys of a value, one to a line. */
function textsIn(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value !== 'object' || value === null) return String(value)
  return Object.entries(value)
    .map(([key, item]) => `${key}\n${textsIn(item)}`)
    .join('\n')
}
const parsed = (text: string | Buffer): string => textsIn(JSON.parse(String(text)))
const asItIs = (text: string | Buffer): string => String(text)
const unquoted = (text: string | Buffer): string => decodeURIComponent(String(text))
const data = (text: string | Buffer): Record<string, string> => JSON.parse(String(text)) as Record<string, string>

const texts: readonly Place[] = [
  { id: 'sentence', isNameless: true, write: (_, v) => `Please use ${v} from now on.`, read: asItIs },
  { id: 'variable', write: (n, v) => `PORT=80\n${n}=${v}\nHOST=x\n`, read: asItIs },
  { id: 'variable in quotes', takes: isOneLine, write: (n, v) => `export ${n}="${v}"\n`, read: asItIs },
  { id: 'JSON', write: (n, v) => json({ id: 4, [n]: v, done: true }), read: parsed },
  {
    id: 'JSON in JSON',
    write: (n, v) => json({ arguments: json({ id: 4, [n]: v, done: true }) }),
    read: (t) => parsed(data(t)['arguments']!),
  },
  {
    id: 'JSON three deep',
    write: (n, v) => json(json(json({ [n]: v, done: true }))),
    read: (t) => parsed(JSON.parse(JSON.parse(String(t)) as string) as string),
  },
  { id: 'JSON, all in \\u', write: (n, v) => `{"id":4,"${all(n)}":"${all(v)}"}`, read: parsed },
  { id: 'JSON, value in \\u', write: (n, v) => `{"id":4,"${n}":"${all(v)}"}`, read: parsed },
  { id: 'JSON, signs in \\u and \\/', write: (n, v) => `{"id":4,"${n}":"${odd(v)}"}`, read: parsed },
  { id: 'JSON in lines', write: (n, v) => json({ [n]: v, id: 4 }, undefined, 2), read: parsed },
  {
    id: '{name, value}',
    write: (n, v) =>
      json([
        { name: 'zone', value: 'eu' },
        { name: n, value: v },
      ]),
    read: parsed,
  },
  {
    id: '{value, name}',
    write: (n, v) =>
      json([
        { value: 'eu', name: 'zone' },
        { value: v, name: n },
      ]),
    read: parsed,
  },
  {
    id: '{value, key}',
    write: (n, v) => json({ set: json([{ value: v, on: true, key: n }]) }),
    read: (t) => parsed(data(t)['set']!),
  },
  { id: '{key, value}', write: (n, v) => json([{ key: n, value: v, on: true }]), read: parsed },
  {
    id: '[name, value]',
    write: (n, v) =>
      json({
        headers: [
          ['accept', '*/*'],
          [n, v],
        ],
      }),
    read: parsed,
  },
  { id: 'raw headers', write: (n, v) => json({ rawHeaders: ['Accept', '*/*', n, v] }), read: parsed },
  { id: 'YAML', takes: isOneLine, write: (n, v) => `db:\n  host: x\n  ${n}: ${v}\n  port: 80\n`, read: asItIs },
  { id: 'YAML in quotes', takes: isOneLine, write: (n, v) => `db:\n  ${n}: "${v}"\n`, read: asItIs },
  { id: 'TOML', takes: isOneLine, write: (n, v) => `[db]\n${n} = "${v}"\n`, read: asItIs },
  {
    id: 'header line',
    takes: isOneLine,
    write: (n, v) => `GET / HTTP/1.1\r\nHost: x\r\n${n}: ${v}\r\nAccept: */*\r\n`,
    read: asItIs,
  },
  { id: 'query', write: (n, v) => `https://x.example/a?q=1&${n}=${encodeURIComponent(v)}&z=2`, read: unquoted },
  { id: 'form', write: (n, v) => `q=1&${n}=${encodeURIComponent(v)}&z=2`, read: unquoted },
  {
    id: 'JSON in a query',
    write: (n, v) => `https://x.example/a?filter=${encodeURIComponent(json({ [n]: v }))}`,
    read: unquoted,
  },
  { id: '--name=value', takes: isOneLine, write: (n, v) => `tool run --${flag(n)}=${v} --verbose`, read: asItIs },
  { id: '--name value', takes: isOneWord, write: (n, v) => `tool run --${flag(n)} ${v} --verbose`, read: asItIs },
  { id: '--name in argv', write: (n, v) => json({ argv: ['run', `--${flag(n)}`, v] }), read: parsed },
  {
    id: '--name in lines that go on',
    takes: isOneWord,
    write: (n, v) => `tool run \\\n  --${flag(n)} \\\n  ${v} \\\n  --verbose\n`,
    read: asItIs,
  },
  {
    id: '--name in items of YAML',
    takes: isOneLine,
    write: (n, v) => `args:\n  - run\n  - --${flag(n)}\n  - ${/^[\w.-]+$/.test(v) ? v : json(v)}\n  - --verbose\n`,
    read: asItIs,
  },
  {
    id: '--name in argv in lines in JSON',
    write: (n, v) => json({ body: json({ pod: { of: { run: { argv: ['run', `--${flag(n)}`, v] } } } }, undefined, 8) }),
    read: (t) => parsed(data(t)['body']!),
  },
  {
    id: '--name in a Dockerfile',
    takes: isOneLine,
    write: (n, v) => `FROM x\nCMD ["run", \\\n     "--${flag(n)}", \\\n     "${v}"]\n`,
    read: asItIs,
  },
  {
    id: '--name in elements',
    takes: (v) => !/[<>&]/.test(v),
    write: (n, v) =>
      `<array>\n  <string>run</string>\n  <string>--${flag(n)}</string>\n  <string>${v}</string>\n</array>`,
    read: asItIs,
  },
  { id: 'XML', takes: (v) => !/[<>&]/.test(v), write: (n, v) => `<r><id>4</id><${n}>${v}</${n}></r>`, read: asItIs },
  {
    id: 'JSON in HTML',
    write: (n, v) => `<pre>${toHtml(json({ [n]: v }))}</pre>`,
    read: (t) => fromHtml(String(t)),
  },
  { id: 'JavaScript', takes: isOneLine, write: (n, v) => `const ${n.replace(/\W/g, '_')} = '${v}'\n`, read: asItIs },
  { id: 'Python', takes: isOneLine, write: (n, v) => `{'id': 4, '${n}': '${v}', 'done': True}`, read: asItIs },
  { id: 'Markdown', takes: isOneLine, write: (n, v) => `* **${n}**: \`${v}\`\n`, read: asItIs },
  {
    id: 'coloured log',
    takes: isOneLine,
    write: (n, v) => `\x1b[36m${n}\x1b[39m=\x1b[32m${v}\x1b[39m done\n`,
    read: asItIs,
  },
  {
    id: 'multipart form',
    write: (n, v) => `--b\r\nContent-Disposition: form-data; name="${n}"\r\n\r\n${v}\r\n--b--\r\n`,
    read: asItIs,
  },
  {
    id: 'JSON in base64',
    write: (n, v) => json({ data: Buffer.from(json({ for: 'the worker', [n]: v })).toString('base64') }),
    read: (t) => parsed(Buffer.from(data(t)['data']!, 'base64').toString()),
  },
  {
    id: 'JSON in base64url',
    write: (n, v) => `state=${Buffer.from(json({ v: 1, [n]: v })).toString('base64url')}`,
    read: (t) => parsed(Buffer.from(String(t).slice('state='.length), 'base64url').toString()),
  },
]

const body = (n: string, v: string): Buffer =>
  Buffer.from(json({ model: 'm', messages: [{ role: 'user', content: 'Where is it?' }], args: { [n]: v } }))

function packed(coding: string, pack: (bytes: Buffer) => Buffer, unpack: (bytes: Buffer) => Buffer): Place {
  return {
    id: `request in ${coding}`,
    coding,
    write: (n, v) => pack(body(n, v)),
    // A recorder may keep it without its coding.
    read: (t) => parsed(Buffer.isBuffer(t) ? unpack(t).toString() : t),
  }
}

/** Where every secret is put. */
export const places: readonly Place[] = [
  ...texts,
  packed(
    'gzip',
    (bytes) => zlib.gzipSync(bytes),
    (bytes) => zlib.gunzipSync(bytes),
  ),
  packed(
    'deflate',
    (bytes) => zlib.deflateSync(bytes),
    (bytes) => zlib.inflateSync(bytes),
  ),
  packed(
    'br',
    (bytes) => zlib.brotliCompressSync(bytes, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 2 } }),
    (bytes) => zlib.brotliDecompressSync(bytes),
  ),
  packed(
    'zstd',
    (bytes) => zlib.zstdCompressSync(bytes),
    (bytes) => zlib.zstdDecompressSync(bytes),
  ),
]
