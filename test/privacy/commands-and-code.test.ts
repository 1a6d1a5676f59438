import { expect, test } from 'vitest'
import { createRedactor } from '../../src/privacy/index.ts'

const key = 'sk-proj-Ab3dE5gH7jK9mN1pQ3sT5uV7wX9z'

test.each([
  ['set -gx DB_PASSWORD tr33house', 'tr33house'],
  ['set --export API_KEY "tr33house"', 'tr33house'],
  ['setenv DB_PASSWORD tr33house', 'tr33house'],
  ['FROM node\nENV DB_PASSWORD tr33house\nRUN make', 'tr33house'],
  ['http -a ada:tr33house GET https://shop.example', 'tr33house'],
  ['https --auth=ada:tr33house shop.example', 'tr33house'],
  ['zip -er -P tr33house all.zip notes', 'tr33house'],
  ['unzip -P "tr33house" all.zip', 'tr33house'],
  ['let password = Some("tr33house");', 'tr33house'],
  ['password = [[tr33house]]', 'tr33house'],
  [`refund-${key}`, key],
])('a secret of a command or of code is taken out, in a text, in JSON, and in JSON in JSON: %s', (said, secret) => {
  const nested = JSON.stringify({ arguments: JSON.stringify({ said }) })
  for (const text of [said, JSON.stringify({ said, id: 1 }), nested]) {
    const clean = createRedactor().text(text)
    expect(clean).not.toContain(secret)
    expect(clean.replace(/redacted-(?:secret|openai-key)-1/, secret)).toBe(text)
  }
})

test.each([
  'password = user.password1',
  'password: settings.DB_PASS2',
  'db_password = var.db_password1',
  'DBPassword: !Ref DBPassword1',
  '{"api_key":"sk-..."}',
  'args.password = "--password"',
  'set -x PATH /usr/local/bin2',
  'NODE_ENV password x9yz',
  'zip -r a.zip b; wget -P /tmp/downloads1 https://shop.example',
  'password: [[Password Policy]]',
  'prompt-cache-key-0123456789abcdef0123456789abcdef',
  'task-sk-learn-2024-pipeline-for-beginners',
])('what only names where a secret is, or looks like the place of one, stays: %s', (said) => {
  for (const text of [said, JSON.stringify({ said, id: 1 })]) expect(createRedactor().text(text)).toBe(text)
})
