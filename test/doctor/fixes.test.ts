import { expect, test } from 'vitest'
import { fixOf } from '../../src/doctor/fixes.ts'

test.each([
  ['crypto.generateKeyPairSync()'],
  ['crypto.generateKey()'],
  ['crypto.subtle.generateKey()'],
  ['crypto.createECDH().generateKeys()'],
  ['crypto.createDiffieHellman()'],
  ['crypto.createDiffieHellman().generateKeys()'],
])('%s makes a live object: value() is not proposed around it', (name) => {
  const fix = fixOf('random', name).join('\n')
  expect(fix).not.toContain('value(')
  expect(fix).toContain('returns plain data: tool(')
})

test('around plain data it is, with the arguments left open', () => {
  expect(fixOf('random', 'crypto.sign()')).toContain("record its answer: value('sign', () => crypto.sign(…))")
  expect(fixOf('process', 'process.pid')).toContain("record its answer: value('pid', () => process.pid)")
})

test('what a package asks for may be a client: value() is never proposed', () => {
  expect(fixOf('random', 'crypto.sign()', { via: 'jose' }).join('\n')).not.toContain('value(')
})

test('around an address it is not, whether the name or the value says that it is one', () => {
  const [name, isAddress] = ['process.env.SHOP_SERVER', true] as const
  expect(fixOf('environment', name).join('\n')).toContain('value(')
  for (const fix of [fixOf('environment', name, { isAddress }), fixOf('environment', 'process.env.OPENAI_API_BASE')])
    expect(fix.join('\n')).not.toContain('value(')
})
