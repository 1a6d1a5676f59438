/** What an async generator is asked. */
export interface GeneratorMethods {
  readonly next: (...given: [] | [unknown]) => Promise<IteratorResult<unknown>>
  readonly return: (value?: unknown) => Promise<IteratorResult<unknown>>
  readonly throw: (error?: unknown) => Promise<IteratorResult<unknown>>
}

const prototype = (Object.getPrototypeOf(async function* () {}) as { readonly prototype: object }).prototype

/**
 * An async generator that hears all it is asked: one written with `yield` hears neither what `next` is given nor that it
 * is given up before it began, and it keeps the next question back until the one before is answered.
 */
export function asyncGenerator(methods: GeneratorMethods): AsyncGenerator<unknown> {
  const own = Object.entries(methods).map(([name, value]) => [
    name,
    { value: value as unknown, writable: true, configurable: true },
  ])
  return Object.create(prototype, Object.fromEntries(own) as PropertyDescriptorMap) as AsyncGenerator<unknown>
}
