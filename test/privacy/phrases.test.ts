import { expect, test } from 'vitest'
import { eighthFinders } from '../../src/privacy/earlier.ts'
import { createRedactor, scan } from '../../src/privacy/index.ts'

/** Passwords of words, where a name that says password and its value are a line, or are compared. */
const phrases: readonly (readonly [text: string, redacted: string])[] = [
  ['password: correct.horse.battery', 'password: redacted-secret-1'],
  ['password: Winter.Sommer.77', 'password: redacted-secret-1'],
  ['password: correct-horse-battery', 'password: redacted-secret-1'],
  ['Password: My.Secret.Winter.', 'Password: redacted-secret-1.'],
  ['Passwort: Winter.Sommer.77', 'Passwort: redacted-secret-1'],
  ['contraseña: correcto.caballo.grande', 'contraseña: redacted-secret-1'],
  [
    'db:\n  password: Winter.Sommer  # of staging\n  port: 1\n',
    'db:\n  password: redacted-secret-1  # of staging\n  port: 1\n',
  ],
  ['[db]\npassword = correct.horse.battery\nport = 1', '[db]\npassword = redacted-secret-1\nport = 1'],
  ['spring.datasource.password=correct.horse.battery', 'spring.datasource.password=redacted-secret-1'],
  [
    '{"text":"user: ada\\npassword: correct.horse.battery\\n"}',
    '{"text":"user: ada\\npassword: redacted-secret-1\\n"}',
  ],
  ['- password: correct.horse.battery', '- password: redacted-secret-1'],
  ['password: [Sommer2024!]', 'password: [redacted-secret-1]'],
  ['password: [Sommer2024, correct.horse.battery]', 'password: [redacted-secret-1, redacted-secret-2]'],
  ['login({ password: [Sommer2024!], user })', 'login({ password: [redacted-secret-1], user })'],
  ['if (password === "orange_basket_lamp") return', 'if (password === "redacted-secret-1") return'],
  ["while (user.password != 'correct-horse-battery')", "while (user.password != 'redacted-secret-1')"],
]

test.each(phrases)('a password of words is found: %s', (text, redacted) => {
  expect(createRedactor().text(text)).toBe(redacted)
  expect(scan(text)).not.toEqual([])
  expect(scan(redacted)).toEqual([])
})

test.each(phrases.filter(([text]) => !/77$/.test(text)))('an older tape keeps it: %s', (text) => {
  expect(createRedactor({}, { finders: eighthFinders }).text(text)).toBe(text)
})

/** What tells by its form that it names where a password is, or says something about one. */
const alike: readonly string[] = [
  'password = var.db_password',
  'password = var.database.main',
  'password = local.database.main',
  'password = data.vault.database.value',
  'password = random_password.db.result',
  'password = aws_db_instance.main.endpoint',
  'password: process.env.DB_PASS',
  'password: process.env.SOME.THING',
  'password: import.meta.env.PASS',
  "password: config.get('x')",
  'password: config.database.get()',
  'password: ${database.main.value}',
  'password: this.form.value',
  'password: self.database.main',
  'password: user.password',
  'password: errors.password.short',
  'password: databaseSettings.main.value',
  'password: e.target.value',
  '  password: event.target.value,',
  'const password = event.target.value',
  'login({ password: event.target.value })',
  'setForm({ ...form, password: form.fields.value })',
  'function check(password: Schema.Types.String, user: User) {',
  'Your password: see docs.shop.example for more',
  'password: see-below',
  'password: not-set',
  'password: [required, minLength8]',
  'password: [u8; 32]',
  'password: [Validators.required, Validators.minLength(8)]',
  'check({ password: [field1, field2] })',
  'if (password === "password_too_short") return',
  'if (error === "must_be_set") return',
  'if (password === "required") return',
]

test.each(alike)('it stays: %s', (text) => {
  expect(createRedactor().text(text)).toBe(text)
})

test.each([
  'correct.horse.battery',
  'correct-horse-battery',
  'korrekt_pferd_batterie',
  'abandon ability able about above absent absorb abstract absurd abuse access accident',
])('a phrase that a name tells is looked for in all of the run: %s', (phrase) => {
  const name = phrase.includes(' ') ? 'mnemonic' : 'password'
  const redactor = createRedactor()
  expect(redactor.text(`{"${name}":"${phrase}"}`)).toBe(`{"${name}":"redacted-secret-1"}`)
  expect(redactor.text(`He typed ${phrase}, and came in.`)).toBe('He typed redacted-secret-1, and came in.')
  const before = createRedactor({}, { finders: eighthFinders })
  void before.text(`{"${name}":"${phrase}"}`)
  expect(before.text(`He typed ${phrase}.`)).toBe(`He typed ${phrase}.`)
})

test.each([
  "can't be blank",
  'is too short',
  'must be set again',
  'lemon tart',
  'not-set',
  'prod-db-secret',
  'resource_owner_password',
])('what may be a message or a name of something is not: %s', (said) => {
  const redactor = createRedactor()
  void redactor.text(`{"password":"${said}"}`)
  expect(redactor.text(`The answer was: ${said}.`)).toBe(`The answer was: ${said}.`)
})
