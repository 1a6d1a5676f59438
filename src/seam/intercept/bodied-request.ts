import { FetchRequest } from '@mswjs/interceptors'

/** Whether the Fetch API has no bodies under a method; `node:http` sends them. */
function isBodiless(method: string): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** A request as the interceptor makes it: under every method with the body that its headers state. */
class BodiedRequest extends Request {
  constructor(input: string | URL | Request, init: RequestInit = {}) {
    const { method = 'GET', headers, body, ...others } = init
    const stated = new Headers(headers)
    const isBodied = body != null && (stated.has('content-length') || stated.has('transfer-encoding'))
    if (!isBodiless(method)) super(input, init)
    else if (!isBodied) super(input, { ...others, method, headers: headers ?? [] })
    else {
      super(input, { ...init, method: 'POST' })
      named(this, method)
    }
  }
}

function named(request: Request, method: string): Request {
  const clone = request.clone.bind(request)
  return Object.defineProperties(request, { method: { value: method }, clone: { value: () => named(clone(), method) } })
}

/** Asked just before a request is made: the interceptor puts another class behind its own whenever it is applied. */
function isMethodWithBody(method: string): boolean {
  const made = Object.getPrototypeOf(FetchRequest) as typeof Request
  if (made !== BodiedRequest) {
    Object.setPrototypeOf(BodiedRequest, made)
    Object.setPrototypeOf(FetchRequest, BodiedRequest)
    Object.setPrototypeOf(FetchRequest.prototype, BodiedRequest.prototype)
  }
  return FetchRequest.isConfigurableMethod(method)
}

/** Makes the interceptor keep the bodies of `GET` and `HEAD`. */
export function keepBodies(): void {
  FetchRequest.isMethodWithBody = isMethodWithBody
}
