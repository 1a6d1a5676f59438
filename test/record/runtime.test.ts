import { expect, test } from 'vitest'
import { runtimeNotHeard, unheardHere } from '../../src/record/runtime.ts'
import { patchProperty } from '../../src/seam/patch.ts'

test('a runtime whose requests go unheard is named, with what to do; Node is none', () => {
  expect(unheardHere()).toBeUndefined()
  expect(unheardHere({ deno: '2.9.6', node: '26.3.0' })).toBe('requests of fetch on Deno 2.9.6')
  expect(unheardHere({ node: '22.19.0' })).toBe('requests of fetch on this runtime')
  expect(unheardHere({ bun: '1.4.5', node: '24.0.0' })).toBe('requests on Bun 1.4.5')
  expect(runtimeNotHeard('requests on Bun 1.4.5').message).toMatch(
    /Not supported: requests on Bun 1\.4\.5[^]*with Node/,
  )
})

test('a property that a runtime fixed is assigned where that goes, and left where it does not: nothing throws', () => {
  const fixed = (writable: boolean): { random: () => number } =>
    Object.defineProperty({}, 'random', { value: () => 1, writable }) as { random: () => number }
  const [open, shut] = [fixed(true), fixed(false)]
  expect([open, shut].map((target) => patchProperty(target, 'random', () => () => 2))).toEqual([true, false])
  expect([open.random(), shut.random()]).toEqual([2, 1])
})
