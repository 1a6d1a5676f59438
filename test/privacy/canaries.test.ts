import { describe, expect, test } from 'vitest'
import { createRedactor, kindsOn, scan } from '../../src/privacy/index.ts'
import { canaries, harmless, surrounded } from './canaries.ts'

/** Every place a secret may stand in; each gives the text a recorder sees. */
const places: Readonly<Record<string, (secret: string) => string>> = {
  alone: (secret) => secret,
  'in a sentence': (secret) => `Use ${secret}, please.`,
  'in quotes': (secret) => `'${secret}'`,
  'in JSON': (secret) => JSON.stringify({ content: secret }),
  'in JSON after a line feed': (secret) => JSON.stringify({ content: `first line\n${secret}\nlast line\t` }),
  'in JSON in JSON': (secret) => JSON.stringify({ arguments: JSON.stringify({ text: `see\n${secret}` }) }),
  'in JSON in JSON in JSON': (secret) => JSON.stringify(JSON.stringify(JSON.stringify([`see\n${secret}\r\n`]))),
  'in a list': (secret) => JSON.stringify([[1, secret], secret]),
  'in Markdown': (secret) => `**${secret}** and \`${secret}\` and [${secret}](x)`,
  'in XML': (secret) => `<key>${secret}</key>`,
  'in a header line': (secret) => `x-key: ${secret}\r\n`,
  twice: (secret) => `${secret} ${secret}`,
  'in an event stream': (secret) => `data: ${JSON.stringify({ delta: secret })}\n\ndata: [DONE]\n\n`,
}

describe.each(Object.entries(canaries))('%s', (kind, secrets) => {
  test.each(Object.entries(places))('is found %s', (_, place) => {
    for (const secret of secrets) {
      const text = place(secret)
      const redacted = createRedactor().text(text)
      expect(leaks(redacted, secret), redacted).toStrictEqual([])
      expect(createRedactor().text(redacted)).toBe(redacted)
      expect(scan(text).map((finding) => finding.kind)).toContain(kind)
      if (isJson(text)) expect(isJson(redacted), redacted).toBe(true)
    }
  })
})

test('every built-in kind has a canary', () => {
  const contextual = ['webhook', 'bearer-token', 'basic-auth', 'url-password', 'secret']
  expect([...Object.keys(canaries), ...contextual].sort()).toStrictEqual([...kindsOn].sort())
})

test.each(surrounded)('the secret in %s is found by what stands around it', (text, secret) => {
  for (const place of [
    text,
    `see ${text} there`,
    JSON.stringify({ note: `first\n${text}\nlast` }),
    JSON.stringify({ a: JSON.stringify({ note: text }) }),
  ]) {
    const redacted = createRedactor().text(place)
    expect(leaks(redacted, secret), redacted).toStrictEqual([])
    expect(createRedactor().text(redacted)).toBe(redacted)
    if (isJson(place)) expect(isJson(redacted), redacted).toBe(true)
  }
})

test('the secret in a multipart form is found by the name in the head of its part', () => {
  const part = (name: string): string =>
    `--x\r\nContent-Disposition: form-data; name="${name}"; filename="a"\r\nContent-Type: text/plain\r\n\r\npa55 word\r\n--x--\r\n`
  expect(createRedactor().text(part('password'))).toBe(part('password').replace('pa55 word', 'redacted-secret-1'))
  expect(createRedactor().text(part('subject'))).toBe(part('subject'))
})

test.each(harmless)('%s is left alone', (text) => {
  for (const place of [text, `see ${text} there`, JSON.stringify({ content: `first\n${text}\nlast` })]) {
    const redactor = createRedactor()
    expect(redactor.text(place)).toBe(place)
    expect(redactor.json({ content: [place] })).toStrictEqual({ content: [place] })
    expect(scan(place)).toStrictEqual([])
  }
})

/** Pieces of the secret, long enough to mean something, that are left in the text. */
function leaks(text: string, secret: string): string[] {
  const core = secret.replace(/^-----BEGIN [A-Z ]+-----\n|^"|"$/g, '')
  const length = Math.min(10, core.length)
  const pieces = Array.from({ length: core.length - length + 1 }, (_, at) => core.slice(at, at + length))
  return pieces.filter((piece) => text.includes(piece) || text.includes(JSON.stringify(piece).slice(1, -1)))
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
