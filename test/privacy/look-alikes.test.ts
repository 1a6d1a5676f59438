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
