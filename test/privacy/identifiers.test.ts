import { expect, test } from 'vitest'
import { createRedactor } from '../../src/privacy/index.ts'

/** A redactor that has seen this value behind the name of a secret. */
function knowing(secret: string) {
  const redactor = createRedactor()
  expect(redactor.text(`"password":"${secret}"`)).toBe('"password":"redacted-secret-1"')
  return redactor
}

const name = 'orders-7b-large'
const asked: readonly string[] = [
  `{"model":"${name}","messages":[{"role":"user","content":"Hi"}]}`,
  `{"model":"openai/${name}","input":"Hi"}`,
  `{"id":"1","model":"${name}","choices":[]}`,
  `data: {"type":"message_start","message":{"model":"${name}","usage":{}}}\n\n`,
  `{"candidates":[],"modelVersion":"${name}"}`,
  `https://models.example/v1/models/${name}:generateContent`,
  `https://models.example/model/${name}/converse-stream`,
  `https://models.example/openai/deployments/${name}/chat/completions`,
  `https://models.example/v1/models/ada/${name}/predictions`,
]

test.each(asked)('a model stays where it is asked, or answers, though its name is a secret elsewhere: %s', (text) => {
  expect(knowing(name).text(text)).toBe(text)
})

const elsewhere: readonly string[] = [
  `{"model":"${name}","serial":1}`,
  `{"car":{"model":"${name}"}}`,
  `https://shop.example/models/${name}`,
  `https://shop.example/models/${name}/files`,
  `https://shop.example/models/${name}/parts?page=2`,
  `https://shop.example/deployments/${name}/logs`,
]

test.each(elsewhere)('a secret is replaced where no model is asked: %s', (text) => {
  expect(knowing(name).text(text)).toBe(text.replace(name, 'redacted-secret-1'))
})

test.each(['aB3dE6gH9jK2mN5pQ8', '0123456789abcdef0123456789abcdef01234567'])(
  'what is made by chance is no name of a model: %s',
  (secret) => {
    for (const text of asked)
      expect(knowing(secret).text(text.replace(name, secret))).toBe(text.replace(name, 'redacted-secret-1'))
  },
)

test.each([
  'gpt-4o-mini-2024-07-18',
  'us.anthropic.claude-3-5-sonnet-20241022-v2:0',
  'meta-llama/Llama-3.2-11B-Vision-Instruct',
  'accounts/fireworks/models/llama-v3p1-8b-instruct',
  'ft:gpt-4o-mini-2024-07-18:acme::9ABCdeF1',
  'qwen2.5-7b-instruct-q4_K_M',
])('the name of a model is not taken for one: %s', (model) => {
  const text = `{"model":"${model}","messages":[]}`
  const redactor = createRedactor()
  redactor.text(`"password":"${model}"`)
  expect(redactor.text(text)).toBe(text)
})
