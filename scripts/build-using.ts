/** The name under which compiled code imports what `using` becomes. */
export const usingHelper = '@oxc-project/runtime/helpers/usingCtx'

/** What `using` becomes for Node 22, which has none: `u` takes a resource, `e` is what was thrown, `d` releases what was taken. */
export default function usingContext(): UsingContext {
  const nothing = {}
  const taken: Disposable[] = []
  return {
    e: nothing,
    u(resource) {
      if (resource !== undefined && resource !== null) taken.push(resource)
      return resource
    },
    d() {
      let thrown = this.e
      for (const resource of taken.toReversed())
        try {
          resource[Symbol.dispose]()
        } catch (error) {
          thrown = thrown === nothing ? error : new AggregateError([error, thrown], 'releasing a resource failed')
        }
      if (thrown !== nothing) throw thrown
    },
  }
}

interface UsingContext {
  e: unknown
  u<T extends Disposable | null | undefined>(resource: T): T
  d(): void
}
