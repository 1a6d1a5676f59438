import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createRedactor } from '../../src/privacy/index.ts'

const secret = 'Tr0ub4dor&3'
const said = [
  `The password is ${secret}.`,
  `Your password was changed to ${secret}`,
  `use the password \`${secret}\``,
  `Invalid password '${secret}' for user ada`,
  `Password (temporary): ${secret}`,
  `Password → ${secret}`,
  `Das Passwort lautet ${secret}.`,
  `Le mot de passe est ${secret}.`,
  `La contraseña es ${secret}`,
  `A senha é ${secret}`,
  `密码是${secret}`,
  `我的密码是 ${secret}。`,
  `パスワードは「${secret}」です`,
  `비밀번호는 ${secret} 입니다`,
  `пароль — ${secret}`,
  `enable password ${secret}`,
  `SetEnv DB_PASSWORD ${secret}`,
  `page.fill('#password', '${secret}')`,
  `passwordInput.fill("${secret}")`,
  `password.equals("${secret}")`,
  `var password string = "${secret}"`,
  `Password: []byte("${secret}")`,
  `(def password "${secret}")`,
  `#define PASSWORD "${secret}"`,
  `mapOf("password" to "${secret}")`,
  `login('ada', '${secret}')`,
  `req.SetBasicAuth("ada", "${secret}")`,
  `DriverManager.getConnection(url, "ada", "${secret}")`,
  `createHmac('sha256', '${secret}')`,
  `basic_auth 'ada', '${secret}'`,
  `<b>Password:</b> ${secret}`,
  `<tr><td>Password</td><td>${secret}</td></tr>`,
  `| Password | ${secret} |`,
  `user,password\nada,${secret}\n`,
  `id;user;password\n1;ada;${secret}\n2;bob;\n`,
  `user\tpassword\nada\t${secret}\n`,
  `| user | password |\n|---|---|\n| ada | ${secret} |\n`,
  `+------+-------------+\n| user | password    |\n+------+-------------+\n| ada  | ${secret} |\n+------+-------------+`,
]

test.each(said)('a secret behind a name without a sign is taken out, in a text and in JSON: %s', (text) => {
  for (const given of [text, JSON.stringify({ said: text, id: 1 }), JSON.stringify({ a: JSON.stringify({ text }) })]) {
    const clean = createRedactor().text(given)
    expect(clean.replace('redacted-secret-1', secret)).toBe(given)
    expect(clean).not.toBe(given)
    expect(createRedactor().text(clean)).toBe(clean)
  }
})

test.each(['the PIN is 4711', 'Die PIN lautet 471147', 'Your OTP is 471147.', 'verification code (sms): 4711'])(
  'a code of digits in a sentence is taken out: %s',
  (text) => {
    expect(createRedactor().text(text)).toBe(text.replace(/\d+/, 'redacted-secret-1'))
  },
)

test.each([
  'The password is required.',
  'the password policy is min-12-chars',
  'Password reset on 2026-03-01T10:00:00Z by user17',
  'hash the password with pbkdf2-sha256 or scrypt16',
  'Passwords expire after 90days',
  'the password was leaked in commit a1b2c3d4e5f60718',
  'see /password/reset/9f86d081884c and forgot-password-1a2b3c4d.js',
  'password manager https://shop.example/9f86d081',
  '<input type="password" name="password" id="f1e2d3c4" class="css-1x2y3z">',
  '<label for="password">Password</label><input id="x1y2z3a">',
  '{"autocomplete":"password","ref":"s1e5x9k"}',
  'password?: string, id: "x9y8z7k"',
  'validate(password, "sha256")',
  'form.password("field1")',
  "login('ada', 'user17')",
  "createHmac('sha256', env.KEY2)",
  'PIN codes since 2024',
  'the SHIPPING is 4711',
  'PIN 13 of the board',
  'user,password\nadmin\n',
  '| column | password |\n|---|---|\n| type | varchar(255) |\n',
  'Name, password and a token1x2y\nfollow, below2a3b and more\n',
])('what a sentence, code or a list says about a password stays: %s', (text) => {
  for (const given of [text, JSON.stringify({ said: text, id: 1 })]) expect(createRedactor().text(given)).toBe(given)
})

test('every column with the name of a secret is read, to the end of its table', () => {
  const rows = Array.from({ length: 50 }, (_, n) => `ada${n},k${n}q7zr9x,none`)
  const clean = createRedactor().text(`user,password,api_key\n${rows.join('\n')}\n\nada,k1q7zr8y,none\n`)
  expect(clean).toContain('ada49,redacted-secret-50,none\n\nada,k1q7zr8y,none\n')
})

const cell = fc
  .array(fc.constantFrom('Ann', 'Doe', ', ', ',', '"', '\n', '\r\n', ' ', ';', '|', '\\', "'", 'é', '7'), {
    maxLength: 6,
  })
  .map((parts) => parts.join('').trim())
const made = fc
  .tuple(fc.integer({ min: 10, max: 99 }), fc.constantFrom('a,b"', ';', '', '"', '|', '\\', '}'))
  .map(([number, sign]) => `k${number}q7zR9x${sign}w`)
const generated = fc.record({
  at: fc.nat(3),
  delimiter: fc.constantFrom(',', ';', '\t'),
  lineBreak: fc.constantFrom('\n', '\r\n'),
  mark: fc.constantFrom('', '\ufeff'),
  name: fc.constantFrom('password', 'api_key', 'Secret', 'Passwort'),
  isQuoted: fc.boolean(),
  rows: fc.array(fc.tuple(fc.array(cell, { minLength: 3, maxLength: 3 }), made, fc.nat(4)), {
    minLength: 1,
    maxLength: 8,
  }),
})

test.each([
  [' id | password  | note\n----+-----------+------\n  1 | tr33house | a|b\n  2 | lemon7art | c\n(2 rows)\n', 2],
  ['| id | password | note |\n|---|---|---|\n| 1 | tr33house | a\\|b |\n| 2 | lemon7art | c |\n', 2],
  [',user,password\n0,ada,tr33house\n1,bob,lemon7art\n', 2],
  ['user,password\nada,tr33house\nid,name,api_key\n1,x,7f3aB9cD2eF4gH6jK8mN\n', 2],
  ['id,name,password\n1,"open,tr33house\n2,Bob,lemon7art\n3,"Doe, C",apple9pie\n', 3],
  ['ID,TOKEN\n1,Doe, Ann,7f3aB9cD2eF4gH6jK8mN\n', 1],
])('a table is read past signs in its cells, to the names of the next one: %j', (table, count) => {
  for (const text of [table, JSON.stringify(table), `{"csv": ${JSON.stringify(table)}}`, JSON.stringify([table])])
    expect([
      ...createRedactor()
        .text(text)
        .matchAll(/redacted-secret-\d(?=[\s"|,\\])/g),
    ]).toHaveLength(count)
})

test('a table ends where the page says, and a line with another number of cells has what looks random', () => {
  const clean = (text: string): string => createRedactor().text(text)
  const [head, row] = ['id,password\n', '1,tr33house\n']
  for (const end of ['\n', '\r\n', 'a,b,c\n'.repeat(65)]) expect(clean(head + end + row)).toBe(head + end + row)
  expect(clean(head + 'a,b,c\n'.repeat(64) + row)).not.toContain('tr33house')
  expect(clean(`${head}user,password,id\na,lemon7art,1\n`)).not.toContain('lemon7art')
  expect(clean(`${head}1,tr33house,x\n1,2,7f3aB9cD2eF4gH6jK8mN\n`)).toBe(
    `${head}1,tr33house,x\n1,2,redacted-secret-1\n`,
  )
})

test('a table keeps no secret of a column and all else, and so does a text of JSON that it stands in', () => {
  fc.assert(
    fc.property(generated, fc.nat(2), ({ at, delimiter, lineBreak, mark, name, isQuoted, rows }, depth) => {
      // As RFC 4180 writes it.
      const write = (cells: readonly string[]): string =>
        cells
          .map((one) => (isQuoted || /[",;\t\r\n]/.test(one) ? `"${one.replaceAll('"', '""')}"` : one))
          .join(delimiter)
      const table = (secrets: readonly string[]): string =>
        [
          write(['id', 'full name', 'note'].toSpliced(at, 0, name)),
          ...rows.flatMap(([cells, , other], nth) => [
            write(cells.toSpliced(at, 0, secrets[nth]!)),
            // Rows of other lengths, and none of them empty.
            ...(other === 4 ? [] : [write(['x', ...cells, 'y'].slice(0, other === 3 ? 5 : other + 1))]),
          ]),
          '',
        ].join(lineBreak)
      let text = mark + table(rows.map(([, secret]) => secret))
      for (let nested = 0; nested < depth; nested++) text = JSON.stringify({ id: 'k1', csv: text, n: 1 })
      let read = createRedactor().text(text)
      for (let nested = 0; nested < depth; nested++) read = (JSON.parse(read) as { csv: string }).csv
      const [put, bare] = [/"?redacted-secret-\d+"?/g, /"?\0"?/g]
      expect(read.replaceAll(put, '\0')).toBe((mark + table(rows.map(() => '\0'))).replaceAll(bare, '\0'))
    }),
    { numRuns: 2_000, seed: 4180 },
  )
})
