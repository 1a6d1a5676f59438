import { expect, test } from 'vitest'
import { createRedactor, scan } from '../../src/privacy/index.ts'

/** What stands in code and prose beside the names of secrets, and is none. */
const alike: Readonly<Record<string, readonly string[]>> = {
  code: [
    'const password = getPassword()',
    'const password2 = await readPassword(2)',
    'let token = tokens[0]',
    'const { password, token } = req.body',
    'password: string',
    'password?: string | undefined',
    'password2: Optional[str] = None',
    'def login(user: str, password: str = ""):',
    'fn check(password: &str) -> bool {',
    'private final String password;',
    'if (password === undefined) return',
    'if (password == confirmation) save()',
    'if (passwordRepeat !== password) fail("no match")',
    'password = os.environ["DB_PASSWORD"]',
    'password = config.get("db.password")',
    'password = env.PASSWORD ?? ""',
    'setPassword(event.target.value)',
    'setToken(null)',
    'user.password(hash)',
    'password: z.string().min(8)',
    "password: { type: 'string', minLength: 8 },",
    "type: 'password', name: 'password2'",
    'const PASSWORD_FIELD = "password_confirmation"',
    'export DB_PASSWORD=${DB_PASSWORD:?}',
    'DB_PASSWORD: ${{ secrets.DB_PASSWORD }}',
    'variable "db_password" {\n  type = string\n  sensitive = true\n}',
    'env:\n  - name: DB_PASSWORD\n    valueFrom:\n      secretKeyRef:\n        name: db\n',
    'default = "eu-west-1"',
    "define('WP_DEBUG', true);",
  ],
  'keys of messages': [
    '"login.password.label": "Password"',
    't("form.password2.placeholder")',
    '<label for="password">Password:</label>',
    "prompt('Mot de passe : ')",
    'input("Passwort: ")',
    '"password.label": "Passwort"',
    '"passwordHint": "Mot de passe"',
    '"passwort_vergessen": "Forgot?"',
    '"密码提示": "Password hint"',
    '"パスワードを忘れた": "Forgot password?"',
    'msgid "password2"',
    "errors.password_repeat: 'Les mots de passe diffèrent'",
  ],
  English: [
    'Password: at least 8 characters, one of them a digit.',
    'The password 7 days later was no longer valid.',
    'password    required',
    'Step 2: set a password. Step 3: log in.',
    'Your token: see the settings page.',
  ],
  German: [
    'Passwort: siehe Handbuch',
    'Passwort: bitte mindestens 8 Zeichen',
    'Das Kennwort: ein Wort, das nur Sie kennen.',
    'Passwort vergessen? Passwort: zurücksetzen',
  ],
  'French and Spanish': [
    'mot de passe : au moins 8 caractères',
    'Mot de passe: obligatoire',
    'Contraseña: mínimo ocho caracteres',
    'contraseña: obligatoria',
    'La clave: trabajar juntos',
  ],
  'Chinese and Japanese': [
    '密码: 请输入密码',
    '密码：至少8位，包含数字',
    '密码：忘记密码？',
    'パスワード: 必須',
    'パスワード：8文字以上で入力してください',
  ],
  tables: [
    'CREATE TABLE users (\n  id          bigint,\n  password    varchar(255) NOT NULL,\n  created_at  timestamptz\n)',
    'id   password   created_at1',
    'password    sha256',
  ],
  'reading of a setting or a field': [
    "password = config.get('mysql', 'password')",
    "password = config.get('db.password', 'default')",
    "password = parser.get('mysql', 'db_password', fallback='')",
    "const password = formData.get('password') ?? 'no password given'",
    'variable "secret" {\n  default = var.x1\n}',
    'variable "secret" {\n  default = "arn:aws:secretsmanager:x1"\n}',
    "if (password === 'password1')",
  ],
  messages: [
    "errors.password = err.password || 'Password too short'",
    "errors.password = err.password || 'At least 8 characters'",
    "password: props.label ?? 'Password:'",
    "password: $t('auth.password') || 'Password'",
    '<key>error.password</key>\n<string>Use 8 to 20 characters.</string>',
    "if (password == 'Enter 8 characters') return",
  ],
  'calls about somebody, or of a form': [
    "resetPassword('user-17')",
    "changePassword('acct-99')",
    "addSecret('prod/db2')",
    "add_secret('projects/p1/secrets/s')",
    "withSecret('aws-secret-v2')",
    "setPassword('user-17')",
    "v.password('min:8')",
    "t.password('Password (8+)')",
    "form.password('field1')",
  ],
  'names with colons': [
    'arn:aws:logs:*:123456789012:log-group:orders-2024',
    'arn:aws:sns:*:123456789012:topic:alerts1',
    'events:*:orders:created:v1.2.3',
    'urn:x:*:a:b:c12345',
    'src/a.ts:6432:12:col:9-error',
  ],
  'words that mean something else': [
    'La clave: producto-77',
    '{"clave":"ISO-9001"}',
    '{"parole":"free/2024"}',
    'Sua senha: B-0123 (guichê 4)',
    '{"pw":"2024-W12"}',
    'psk: wpa2-psk',
    '{"pat":"patient-2024-0012-ab34"}',
    '{"pat":"^[a-z0-9]{16,64}$"}',
    '{"pat":"550e8400-e29b-41d4-a716-446655440000"}',
  ],
  'labels in the language of the name': [
    'contraseña: ¿olvidada?',
    'contraseña: ¿Olvidaste tu contraseña?',
    'contraseña=obligatoria',
    'пароль=обязательно',
    'lösenord: minst8tecken',
    'Kennwort: Schritt-2',
  ],
  'standards and constants': [
    'the items IDENTIFIED BY sku-12345 are sold',
    'sets IDENTIFIED BY RFC-2119',
    'The default login name password 12345',
    'PWD={current}',
    "define('SORT_KEY', 'created_at-then-updated_at-v2');",
    "define('FOO_KEY', 'https://example.com/docs/2024');",
  ],
  Russian: ['пароль: не менее 8 символов', 'Пароль: введите пароль', 'Забыли пароль? пароль: восстановить'],
}

test.each(Object.entries(alike).flatMap(([kind, all]) => all.map((text) => [kind, text] as const)))(
  '%s with the name of a secret stay as they are: %s',
  (_, text) => {
    for (const one of [text, JSON.stringify({ said: text }), JSON.stringify({ arguments: JSON.stringify({ text }) })]) {
      expect(createRedactor().text(one)).toBe(one)
      expect(scan(one)).toEqual([])
    }
  },
)

test.each([
  {
    role: 'tool',
    tool_call_id: 'call_1',
    name: 'reset_password',
    content: 'A mail was sent to the user in 2 minutes.',
  },
  { role: 'function', name: 'rotate_api_key', content: 'rotated-2025-x' },
  { name: 'rotate_api_key', content: 'rotated-2025-x', tool_call_id: 'call_1' },
  { name: 'list_api_key', content: '[{"id":"ak_1","name":"Main2024"}]' },
  { type: 'tool', name: 'get_secret', text: '{"at":"2025-01-01"}' },
  { tool: 'rotate_api_key', value: 'rotated-2025-x' },
])('what a tool says stays, however it is called: %j', (message) => {
  for (const space of [undefined, 2]) {
    const line = JSON.stringify([message], undefined, space)
    for (const text of [line, JSON.stringify({ said: line })]) expect(createRedactor().text(text)).toBe(text)
  }
})

test('a secret in what a tool says is taken out, and the value of a field beside a role', () => {
  const clean = (value: unknown): unknown => JSON.parse(createRedactor().text(JSON.stringify(value)))
  expect(clean({ role: 'tool', name: 'reset_password', content: 'password=tr33house' })).toEqual({
    role: 'tool',
    name: 'reset_password',
    content: 'password=redacted-secret-1',
  })
  expect(clean({ role: 'admin', name: 'password', value: 'tr33house' })).toHaveProperty('value', 'redacted-secret-1')
})
