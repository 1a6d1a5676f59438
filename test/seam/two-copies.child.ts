import { answerParent } from '../../fixtures/child/answer.ts'
import { heedAgent } from '../../src/seam/intercept/index.ts'

/** What two copies of the package leave behind: each lies over the other. */
answerParent(async (): Promise<string> => {
  const onTop = Symbol.for('vitest-harvest/on-top@1')
  const native = globalThis.fetch
  const [one, other] = [0, 1].map(() => Object.assign((...args: Parameters<typeof fetch>) => native(...args), {}))
  if (one === undefined || other === undefined) throw new TypeError('two functions')
  Object.assign(one, { [onTop]: other })
  Object.assign(other, { [onTop]: one })
  globalThis.fetch = one
  heedAgent(true)()
  return globalThis.fetch === one ? 'stays' : 'is another'
})
