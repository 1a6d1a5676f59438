import crypto, { type webcrypto } from 'node:crypto'
import vm from 'node:vm'
import { patch, patchAnswer, patchAnswers } from './patching.ts'
import { ask, type ProbeTarget, type Ways } from './probe.ts'

/** Asked again, it is another one. */
const anew: Ways<unknown> = { 'asked again': (_noted, again) => again() }

/** Keys, signatures and identifiers that are new each time, and that the seam leaves alone. */
export function probeChance(): void {
  const random = (name: string): ProbeTarget => ({ kind: 'random', name })
  const atOnce = ['generateKeyPairSync', 'generateKeySync', 'generatePrimeSync', 'createDiffieHellman', 'publicEncrypt']
  for (const key of atOnce)
    patchAnswers(
      crypto,
      key,
      'sync',
      // A prime that is given was not made here.
      ([first]) => (key === 'createDiffieHellman' && typeof first !== 'number' ? undefined : random(`crypto.${key}()`)),
      () => anew,
    )
  for (const key of ['generateKeyPair', 'generateKey', 'generatePrime'])
    patchAnswers(
      crypto,
      key,
      'callback',
      () => random(`crypto.${key}()`),
      () => anew,
    )
  for (const key of ['sign', 'encapsulate'])
    patchAnswers(
      crypto,
      key,
      'sync',
      (args) => (typeof args.at(-1) === 'function' ? undefined : random(`crypto.${key}()`)),
      () => anew,
    )
  patchAnswer(crypto.Sign.prototype, 'sign', random('crypto.createSign().sign()'), anew)
  const ecdh = Object.getPrototypeOf(crypto.createECDH('prime256v1')) as object
  patchAnswer(ecdh, 'generateKeys', random('crypto.createECDH().generateKeys()'), anew)
  for (const { prototype } of [crypto.DiffieHellman, crypto.DiffieHellmanGroup])
    patchAnswer(prototype as object, 'generateKeys', random('crypto.createDiffieHellman().generateKeys()'), anew)
  const subtle = Object.getPrototypeOf(crypto.webcrypto.subtle) as webcrypto.SubtleCrypto
  for (const key of ['generateKey', 'sign', 'encrypt', 'wrapKey', 'encapsulateBits', 'encapsulateKey'])
    patchAnswers(
      subtle,
      key,
      'promise',
      () => random(`crypto.subtle.${key}()`),
      () => anew,
    )
  patchAnswer(URL, 'createObjectURL', random('URL.createObjectURL()'), anew)
  probeRealms()
  probeGarbage()
}

/** Code in a context of its own has a clock and random numbers of its own. */
function probeRealms(): void {
  const source: ProbeTarget = { kind: 'another realm', name: 'node:vm' }
  for (const key of ['runInNewContext', 'runInContext']) {
    patchAnswer(vm, key, source, anew)
    patchAnswer(vm.Script.prototype, key, source, anew)
  }
}

/** A package that asks whether its own object is still there usually holds it elsewhere for as long as it needs it. */
function probeGarbage(): void {
  patch(WeakRef.prototype, 'deref', (original) => {
    return function patched(this: WeakRef<object>): unknown {
      const slot = ask(() => ({ kind: 'garbage collection', name: 'WeakRef#deref()' }), patched)
      return slot?.via !== undefined || slot?.way(['collected']) === undefined
        ? (original.call(this) as unknown)
        : undefined
    }
  })
}
