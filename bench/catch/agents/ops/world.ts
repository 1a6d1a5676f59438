import { Overloaded, parsed, type Scene } from '../../world/types.ts'

/**
 * The model reads metrics and deploys at once and rolls back the last deploy, or restarts when there was none. Refused,
 * it pages. It is overloaded the second time it is asked.
 */
export const scene: Scene = {
  inputs: [
    { service: 'payments', at: '2026-04-01T02:10:00.000Z', text: 'errors above 5 %' },
    { service: 'search', at: '2026-04-01T02:10:00.000Z', text: 'errors above 5 %' },
    { service: 'mail', at: '2026-04-02T10:00:00.000Z', text: 'queue grows' },
  ],
  open() {
    let asked = 0
    return {
      decide({ model, system, user, tools, results }) {
        asked++
        if (asked === 2) throw new Overloaded()
        const text = user[0] ?? ''
        const service = /\b(payments|search|mail)\b/.exec(text)?.[1] ?? 'unknown'
        const last = (name: string) => results.findLast((result) => result.name === name)
        const output = (name: string) => (parsed(last(name)?.text ?? '{}')['output'] ?? {}) as Record<string, unknown>
        const both = [
          { name: 'get_metrics', args: { service } },
          { name: 'list_deploys', args: { service } },
        ].filter(({ name }) => tools.includes(name) && last(name) === undefined)
        if (both.length > 0) return both
        const deploys = (output('list_deploys')['deploys'] ?? []) as readonly { readonly version: string }[]
        const rate = Number(output('get_metrics')['errors'] ?? 0)
        const tried = last('rollback') ?? last('restart')
        if (tried === undefined && rate > 5) {
          const newest = deploys[0]
          const isHasty = !model.includes('pro') || /restart first/i.test(system)
          if (newest !== undefined && !isHasty) {
            return [{ name: 'rollback', args: { service, version: newest.version } }]
          }
          return [{ name: 'restart', args: { service } }]
        }
        if (tried?.text.includes('refused') && last('page') === undefined && tools.includes('page')) {
          return [{ name: 'page', args: { team: `${service}-team`, text: `${service} at ${rate} % errors` } }]
        }
        return `${service}: ${tried === undefined ? 'nothing to do' : tried.name}, ${results.length} steps.`
      },
      serve({ path, query, body }) {
        const [, first, service] = path.split('/')
        if (first === 'metrics') return { body: { service, errors: query['minutes'] === '30' ? 7.5 : 3 }, delayMs: 8 }
        if (first === 'deploys') {
          const all = [
            { version: 'v42', at: '2026-04-01T01:55:00.000Z' },
            { version: 'v41', at: '2026-04-01T00:30:00.000Z' },
          ]
          return { body: { deploys: all.filter(({ at }) => at >= (query['since'] ?? '')) } }
        }
        return { body: { done: true, ...body } }
      },
    }
  },
}
