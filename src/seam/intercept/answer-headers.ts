import { onceInProcess, patchProperty } from '../patch.ts'
import { callerPackage } from '../caller.ts'
import { type Caller, sharedOf } from '../source.ts'
import { currentResponder } from './responder.ts'

/** Headers of answers, and not those that the agent makes itself. */
const ofAnswers = sharedOf('intercept.answer-headers', () => new WeakSet<Headers>())

/** Lets a run hear when its agent looks for a header that a response of `fetch` does not have. */
export function hearHeaderReads(): void {
  onceInProcess('intercept.header-reads', () => {
    markHeaders(Response.prototype)
    patchProperty(Headers.prototype, 'get', (look) => {
      return function get(this: Headers, ...args: [string]) {
        const found = Reflect.apply(look, this, args)
        if (found === null) missed(this, args[0], get)
        return found
      }
    })
    patchProperty(Headers.prototype, 'has', (look) => {
      return function has(this: Headers, ...args: [string]) {
        const found = Reflect.apply(look, this, args)
        if (!found) missed(this, args[0], has)
        return found
      }
    })
  })
}

/** SDKs look for headers that some providers send, such as the one of a workspace, whether the agent uses them or not. */
function missed(headers: Headers, name: string, caller: Caller): void {
  const responder = ofAnswers.has(headers) ? currentResponder() : undefined
  if (responder?.missedHeader !== undefined && callerPackage(caller) === 'app')
    responder.missedHeader(name.toLowerCase())
}

/** Marks the headers of a response where they are asked for: one that was not made by hand has an address. */
function markHeaders(prototype: Response): void {
  const before = Object.getOwnPropertyDescriptor(prototype, 'headers')
  const get = before?.get as ((this: Response) => Headers) | undefined
  if (!get) return
  const look = function (this: Response): Headers {
    const headers = get.call(this)
    if (currentResponder() !== undefined && this.url !== '') ofAnswers.add(headers)
    return headers
  }
  Object.defineProperty(look, 'name', { value: get.name, configurable: true })
  Object.defineProperty(prototype, 'headers', { ...before, get: look })
}
