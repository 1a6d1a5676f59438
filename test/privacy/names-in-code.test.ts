import { expect, test } from 'vitest'
import { createRedactor, scan } from '../../src/privacy/index.ts'

const word = 'tr33house'
const random = 'K7fq2Zr9Xv4Tn8WbLq3M'

const secrets: Readonly<Record<string, readonly string[]>> = {
  'the text that stands there for want of another one': [
    "password = env.P ?? '‹›'",
    'const password = process.env.DB_PASSWORD || "‹›"',
    "password: process.env.P || '‹›',",
    "const password = Deno.env.get('P') ?? '‹›'",
    "password = os.environ.get('P', '‹›')",
    'password = os.getenv("P", default="‹›")',
    'PASSWORD = os.environ.get("PASSWORD") or "‹›"',
    'val password = System.getenv("P") ?: "‹›"',
    "'password' => env('DB_PASSWORD', '‹›'),",
    "$password = $_ENV['P'] ?? '‹›';",
    "password: ENV.fetch('P', '‹›')",
    "password = ENV['P'] || '‹›'",
    "password = config.get('db.password', '‹›')",
    'DB_PASSWORD=${DB_PASSWORD:-‹›}',
    'POSTGRES_PASSWORD: "${POSTGRES_PASSWORD:-‹›}"',
    'spring.datasource.password=${DB_PASSWORD:‹›}',
  ],
  'a value behind its type, in a call or in a comparison': [
    "const password: string = '‹›'",
    'password: Optional[str] = "‹›"',
    'let password: &str = "‹›";',
    'client.setPassword("‹›")',
    ".user('ada').password('‹›').connect()",
    'if (password == "‹›") open()',
    "if (password === '‹›') open()",
    "CREATE LOGIN ada WITH PASSWORD = N'‹›'",
  ],
  'one of several': [
    'password1=‹›',
    'password_2: ‹›',
    '{"password2":"‹›"}',
    'api_key_1=‹›',
    'password_confirmation=‹›',
    '{"passwordRepeat":"‹›"}',
  ],
  'a name in another language': [
    'Passwort: ‹›',
    'kennwort=‹›',
    'mot_de_passe: ‹›',
    'motDePasse=‹›',
    '{"contraseña":"‹›"}',
    'contraseña: ‹›',
    'contrasena=‹›',
    'CONTRASEÑA=‹›',
    'senha=‹›',
    'wachtwoord: ‹›',
    'lösenord: ‹›',
    'hasło: ‹›',
    'şifre: ‹›',
    'clave=‹›',
    '{"パスワード":"‹›"}',
    'パスワード：‹›',
    '密码：‹›',
    '请输入密码: ‹›',
    '{"密码":"‹›"}',
    'пароль: ‹›',
    'ПАРОЛЬ=‹›',
    '비밀번호: ‹›',
  ],
  'a name above the value': [
    'env:\n  - name: DB_PASSWORD\n    value: ‹›\n',
    'env:\n  - name: "DB_PASSWORD"\n    value: "‹›"\n',
    'variable "db_password" {\n  type = string\n  default = "‹›"\n}',
    '{"ParameterKey":"DBPassword","ParameterValue":"‹›"}',
    '{"password":{"S":"‹›"}}',
    '{"password":{"$eq":"‹›"}}',
  ],
  'a file of passwords': [
    'db.example:6432:shop:ada:‹›',
    '*:*:*:postgres:‹›',
    'username cisco password 0 ‹›',
    'requirepass ‹›',
    'network={\n  ssid="home"\n  psk="‹›"\n}',
    '[client]\nuser=root\npassword=‹›\n',
    "define( 'DB_PASSWORD', '‹›' );",
    'ConvertTo-SecureString "‹›" -AsPlainText -Force',
  ],
}

const cases = Object.entries(secrets).flatMap(([kind, all]) => all.map((said) => [kind, said] as const))

test.each(cases)('%s is taken out, in a text, in JSON, and in JSON in JSON: %s', (_, form) => {
  const said = form.replace('‹›', word)
  const nested = JSON.stringify({ arguments: JSON.stringify({ said }) })
  for (const text of [said, JSON.stringify({ said, id: 1 }), nested]) {
    const clean = createRedactor().text(text)
    expect(clean).not.toContain(word)
    expect(clean.replace('redacted-secret-1', word)).toBe(text)
    expect(scan(clean)).toEqual([])
  }
})

test.each([
  "token = process.env.TOKEN ?? '‹›'",
  '"token3": "‹›"',
  'API_KEY_2="‹›"',
  'GITHUB_PAT=‹›‹›',
  'AWS Secret Access Key [None]: ‹›‹›',
  'wandb_v1_‹›‹›‹›',
  'tgp_v1_‹›‹›abc',
  'rpa_‹›‹›AB',
  'm0-‹›‹›',
  'abcD3F_‹›abcdefghi_mmk',
])('a key is taken out: %s', (form) => {
  const text = form.replaceAll('‹›', random)
  const clean = createRedactor().text(text)
  expect(clean).not.toMatch(/K7fq2Zr9|AGFkYQ/)
  expect(scan(clean)).toEqual([])
})

const inUnicode = (text: string): string =>
  text.replace(/[^\0-\x7f]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)
const inEntities = (text: string): string =>
  text.replace(/[^\0-\x7f]/g, (one) => `&#x${one.charCodeAt(0).toString(16)};`)

test.each(
  [
    'contraseña',
    'contrasen\u0303a',
    'CONTRASEÑA',
    '密码',
    'パスワード',
    '비밀번호',
    'пароль',
    'hasło',
    'şifre',
  ].flatMap((name) => [
    inUnicode(JSON.stringify({ [name]: word })),
    inUnicode(JSON.stringify({ a: inUnicode(JSON.stringify({ said: `${name}: ${word}` })), b: 'é'.repeat(300) })),
    `a=1&${encodeURIComponent(name)}=${word}&b=2`,
    `${encodeURIComponent(encodeURIComponent(name))}=${word}`,
    `q=${encodeURIComponent(JSON.stringify({ [name]: word }))}`,
    `<p>${inEntities(name)}: ${word}</p>`,
  ]),
)('a name beyond ASCII is read however it is spelled: %s', (text) => {
  const clean = createRedactor().text(text)
  expect(clean).not.toContain(word)
  expect(clean.replace('redacted-secret-1', word)).toBe(text)
  expect(scan(clean)).toEqual([])
})

test.each([
  // Accounts and articles have numbers like keys.
  'ACdeadbeefdeadbeefdeadbeefdeadbeef',
  '{"sid":"AC5ef872f6da5a21de157d80997a64bd33"}',
  'SK12345678901234567890123456789012',
  '{"token0":"0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"}',
  // What a secret is called, and where it is.
  'arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db-AbCdEf',
  'docker build --secret id=npmrc,src=.npmrc .',
  'docker buildx build --secret type=env,id=NPM_TOKEN .',
  // Code that puts one together, or reads it.
  "headers: { 'Authorization': 'Bearer ' + token }",
  '"Authorization": "Bearer " + token',
  "password = env.P ?? ''",
  "password = process.env.P || 'required'",
  "password = os.environ.get('DB_PASSWORD')",
  "password = os.environ['DB_PASSWORD']",
  'password = getpass("Password: ")',
  'setPassword(password2)',
  'setPassword("")',
  'const password2 = props.password2',
  'password1: string',
  'DB_PASSWORD=${DB_PASSWORD:-}',
  'DB_PASSWORD=${DB_PASSWORD:?required}',
  'variable "db_password" {\n  type = string\n}',
  'name: order-17\nvalue: tr33house',
  // Sentences.
  'The line -----BEGIN PRIVATE KEY----- is the header of a PEM file.',
  'It begins with -----BEGIN RSA PRIVATE KEY----- and ends with -----END RSA PRIVATE KEY-----.',
  'The Passwort: bitte eingeben',
  'Su contraseña: olvidada',
  'mot de passe oublié : cliquez ici',
  'passwort_hinweis: max 12 Zeichen',
  '密码：必填',
  '密码：请输入，至少8位',
  'パスワード：8文字以上',
  'пароль: обязательное поле',
  '{"clave":"valor"}',
  '{"parola":"casa"}',
  'Das Geheimnis: Liebe',
  '{"access_code":"required"}',
  '{"password":["This field is required.","min 8 chars"]}',
  '{"country_code":"482913"}',
  '{"resenha":"muito bom, 5 estrelas"}',
  'key1: value, token_1: 42, max_token_2: 4096',
  'auth0: production',
])('what only looks like a secret, or speaks of one, stays: %s', (text) => {
  for (const one of [text, JSON.stringify({ said: text })]) expect(createRedactor().text(one)).toBe(one)
})

test.each([
  'mutation Login($password: String!) { login(password: $password) { token } }',
  'query Q($token: ID!, $password: Secret!, $n: Int) { a }',
  'input Login {\n  email: String!\n  password: String!\n}',
  'type Mutation { login(email: String!, password: String!): User }',
])('the type of GraphQL that a secret has is none: %s', (said) => {
  for (const text of [said, JSON.stringify({ said, id: 7 })]) expect(createRedactor().text(text)).toBe(text)
})

test.each([
  ...[
    'password: hunter2',
    'password: UserRef1',
    'password = tr33house',
    'DB_PASSWORD=hunter2',
    'password: Sommer2024!',
  ],
  ...[
    'password: letmein!',
    'db:\n  password: dbPass2024',
    'password==hunter2',
    '$password: hunter2',
    '(password: Hunter2!)',
    '$password: Sommer2024!',
    '($password: Sommer2024!)',
    'password === Tr0ub4dor3x',
    'password: Winter.Sommer.77',
    'DB_PASSWORD=correct.horse.battery',
  ],
  ...['{"password":"module.sec1.outputs.value"}', 'password = "confirmPassword2x"'],
])('a password that might be the name of something is one where it is set: %s', (said) => {
  expect(createRedactor().text(said)).not.toBe(said)
})
