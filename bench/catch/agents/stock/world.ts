import { parsed, type Scene } from '../../world/types.ts'

const units: Readonly<Record<string, number>> = { north: 5, south: 42, west: 25 }

/** The model looks at stock and supplier at once, asks each other site for all that is missing, then orders the rest. */
export const scene: Scene = {
  inputs: [
    { sku: 'K-9', site: 'north', target: 70 },
    { sku: 'K-9', site: 'west', target: 40 },
    { sku: 'K-2', site: 'north', target: 200 },
  ],
  open: () => ({
    decide({ model, system, user, tools, results }) {
      const text = user.join('\n')
      const [, site = '', target = '0', sku = ''] =
        /Fill (\w+) up to (\d+) units of (\S+)\./.exec(text) ?? /site (\w+).*?(\d+).*?([A-Z]-\d)/s.exec(text) ?? []
      const heard = (name: string) => results.filter((result) => result.name === name)
      const both = ['stock_levels', 'supplier']
        .filter((name) => tools.includes(name) && heard(name).length === 0)
        .map((name) => ({ name, args: { sku } }))
      if (both.length > 0) return both
      const level = parsed(heard('stock_levels').at(-1)?.text ?? '{}') as Record<string, number>
      const transfers = heard('transfer')
      const last = transfers.at(-1)
      const missing =
        Number(parsed(transfers.findLast(({ text }) => text.includes('missing'))?.text ?? '{}')['missing'] ?? NaN) ||
        (last !== undefined && parsed(last.text)['missing'] === 0 ? 0 : Number(target) - (level[site] ?? 0))
      const others = Object.keys(level)
        .filter((name) => name !== site && (level[name] ?? 0) > 10)
        .sort((a, b) => (level[b] ?? 0) - (level[a] ?? 0))
      const next = others.find((name) => !transfers.some(({ args }) => args['from'] === name))
      const spares = model === 'gpt-5' && !/fresh stock only/i.test(system)
      if (missing > 0 && next !== undefined && spares && tools.includes('transfer')) {
        return [{ name: 'transfer', args: { sku, from: next, units: missing } }]
      }
      const { id, box } = parsed(heard('supplier').at(-1)?.text ?? '{}')
      if (missing > 0 && id !== undefined && heard('reorder').length === 0 && tools.includes('reorder')) {
        return [{ name: 'reorder', args: { sku, supplier_id: id, units: missing, box } }]
      }
      return `${site} is filled: ${results.length} steps.`
    },
    serve({ path, query, body }) {
      const [, first, site = ''] = path.split('/')
      if (first === 'levels') return { body: { units: units[site] ?? 0 }, delayMs: site === 'north' ? 12 : 2 }
      if (first === 'suppliers') return { body: { id: `S-${query['sku']}`, box: 8, unit: 'piece' } }
      if (first === 'orders') return { body: { order: `O-${String(body['units'])}` } }
      return { body: { ok: true } }
    },
  }),
}
