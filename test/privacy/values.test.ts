import { expect, test } from 'vitest'
import { createRedactor } from '../../src/privacy/index.ts'

const secret = 'tr33houseQ9zk'
const hashes = ['u5cJdPzQk3mS1fGh7LbNw', 'X3DX6M94c7o']

/** Ways to write a value under a name, as languages and files do. */
const forms: Readonly<Record<string, string>> = {
  'a block of YAML': `db:\n  password: |\n    ${secret}\n  user: ada\n`,
  'a folded block of YAML': `password: >-\n  ${secret}\n`,
  'a tag of YAML': `password: !!str ${secret}\n`,
  'an anchor of YAML': `password: &pw ${secret}\nother: *pw\n`,
  'three quotes': `password = """${secret}"""\n`,
  'three single quotes': `password = '''${secret}'''\n`,
  'bytes of Python': `{'user': 'ada', 'password': b'${secret}'}`,
  'a format of Python': `password = f"${secret}"`,
  'quotes of a shell': `export PASSWORD=$'${secret}'`,
  'a list': `{"password":["x",  "${secret}"]}`,
  'a list of tokens': `{"token": ["K7fq2Zr9Xv4Tn8Wb", "${secret}aaaa"]}`,
  'a field of an object': `{"password":{"sensitive":true,"type":"string","value":"${secret}"}}`,
  'a text as an object': `{"password":{"$type":"boxed","value":"${secret}"}}`,
  'a field of a set': `{"$type":"fielded","value":{"$type":"set","values":[]},"fields":{"password":"${secret}"}}`,
  'a pair with fields between': `{"name":"password","type":"string","value":"${secret}"}`,
  'attributes of XML': `<property name="db.password" value="${secret}" />`,
  'an input of HTML': `<input type="password" name="password" value="${secret}">`,
  'a meta of HTML': `<meta name="csrf-token" content="${secret}aaaa8bbbb">`,
  'an element with attributes': `<wsse:Password Type="http://example/text#Digest">${secret}</wsse:Password>`,
  'an element named by an attribute': `<entry key="password">${secret}</entry>`,
  'an element in several lines': `<password>\n  ${secret}\n</password>`,
  CDATA: `<password><![CDATA[${secret}]]></password>`,
  'a space of HTML': `Password:&nbsp;${secret}`,
  'a sign of HTML': `password&equals;${secret}`,
  'a hash of Apache': `ada:$apr1$x7Y8z9Qk$${hashes[0]}.`,
  'a hash of yescrypt': `root:$y$j9T$F5Jx5fExrKuPp53xLKQ..1$${hashes[1]}.9agCG9G317fhZg9SqC.5i5rd.RhAtQ7:19000:0`,
}

test.each(Object.entries(forms))('a secret is found in %s, and in JSON of it', (_, text) => {
  const inJson = JSON.stringify({ content: text })
  for (const given of [text, inJson, JSON.stringify({ body: inJson })]) {
    const redacted = createRedactor().text(given)
    for (const trace of [secret, ...hashes]) expect(redacted).not.toContain(trace)
    expect(createRedactor().text(redacted)).toBe(redacted)
    if (given !== text) expect(() => JSON.parse(redacted) as unknown).not.toThrow()
  }
})

test.each([
  '{"secret":["DB_PASSWORD","API_KEY"],"required":["password","token"]}',
  '{"password":{"type":"string","description":"At least 8 characters"}}',
  '{"password":{"label":"Password","value":"Enter your password"}}',
  '{"token":[" the"," cat"]}',
  '{"name":"password","type":"string","value":"required"}',
  '<input name="password" value="">',
  '<input name="token" value="refresh">',
  '<label id="password" for="new">Forgot your password?</label>',
  'password: |\nadmin2: ada\n',
  'password: |\n  kept elsewhere\n',
  '{"password":{"type":"string","value":"${DB_PASSWORD_2}"}}',
  'password: b"',
  'password = """',
])('%s stays as it is', (text) => {
  expect(createRedactor().text(text)).toBe(text)
})

test.each([
  `{"columns":["user","password"],"rows":[["ada","${secret}"]]}`,
  `<table><tr><th>user</th><th>password</th></tr><tr><td>ada</td><td>tr33house</td></tr></table>`,
])('a value in a table of JSON or HTML whose names stand once, above it, is not found: %s', (text) => {
  expect(createRedactor().text(text)).toBe(text)
})
