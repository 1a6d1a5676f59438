import { parsed, type Scene, type Wanted } from '../../world/types.ts'

const notes = [
  { at: '2026-01-04', text: 'asked for an invoice' },
  { at: '2026-01-20', text: 'VIP: always high priority' },
  { at: '2026-02-02', text: 'moved to region eu' },
  { at: '2026-02-09', text: 'reported a slow export' },
  { at: '2026-02-20', text: 'prefers short answers' },
  { at: '2026-02-27', text: 'asked about exports' },
]

/** What the notes say decides the priority, the plan the team, the articles the reply. The search fails the first time. */
export const scene: Scene = {
  inputs: [
    { id: 'S-4', customer: 'acme', text: 'Our export hangs at 80 %.' },
    { id: 'S-5', customer: 'globex', text: 'How do I change my plan?' },
    { id: 'S-6', customer: 'initech', text: 'Login fails since noon.' },
  ],
  open() {
    let searches = 0
    return {
      decide({ model, system, user, tools, results }) {
        const text = user[0] ?? ''
        const [, customer = 'nobody'] = /Ticket \S+ of (\w+)/.exec(text) ?? /(\w+)'s ticket/.exec(text) ?? []
        const topic = /export|plan|login/i.exec(text)?.[0].toLowerCase() ?? 'help'
        const last = (name: string) => results.findLast((result) => result.name === name)
        const asks: Wanted[] = [
          { name: 'get_account', args: { customer } },
          { name: 'search_articles', args: { query: `${topic} problem` } },
        ].filter(({ name }) => tools.includes(name) && last(name) === undefined)
        if (asks.length > 0) return asks
        const failures = results.filter(({ text }) => text.startsWith('failed')).length
        if (last('search_articles')?.text.startsWith('failed') && failures < 3) {
          return [{ name: 'search_articles', args: { query: topic } }]
        }
        const isHigh = text.includes('VIP') || /urgent/i.test(system)
        const { plan } = parsed(last('get_account')?.text ?? '{}')
        const articles = parsed(last('search_articles')?.text ?? '{}')['found'] as
          | { readonly title: string }[]
          | undefined
        const wanted: Wanted[] = [
          { name: 'set_priority', args: { priority: isHigh ? 'high' : model.includes('haiku') ? 'low' : 'normal' } },
          { name: 'assign', args: { team: plan === 'enterprise' ? 'enterprise' : 'general' } },
        ].filter(({ name }) => tools.includes(name) && last(name) === undefined)
        if (wanted.length > 0) return wanted
        if (last('reply') === undefined && tools.includes('reply')) {
          const titles = (articles ?? []).map(({ title }) => title).join('; ')
          const words = text.includes('prefers short') ? 'See' : 'We are sorry to hear that. Please read'
          return [{ name: 'reply', args: { text: `${words}: ${titles || 'we will come back to you'}` } }]
        }
        return `${customer} was answered after ${results.length} steps.`
      },
      serve({ method, path, query }) {
        const [, first, who] = path.split('/')
        if (first === 'memory' && method === 'GET') return { body: who === 'acme' ? notes : notes.slice(3) }
        if (first === 'accounts') return { body: { customer: who, plan: who === 'globex' ? 'free' : 'enterprise' } }
        if (first === 'articles') {
          searches++
          if (searches === 1) return { status: 503, body: { error: 'index is loading' } }
          const found = [1, 2, 3, 4].slice(0, Number(query['limit'])).map((n) => ({ title: `${query['q']} ${n}` }))
          return { body: { found } }
        }
        return { body: { ok: true } }
      },
    }
  },
}
