import { benign, type Edit, regression } from '../../edits.ts'

export const edits: readonly Edit[] = [
  regression('the reserve of a site is given away', ['(stock.get(from) ?? 0) - 10', '(stock.get(from) ?? 0)']),
  regression('boxes are rounded down', ['Math.ceil(Math.min', 'Math.floor(Math.min']),
  regression('units are ordered, not boxes', ['units: boxes * box })) as', 'units: boxes })) as']),
  regression('what was moved is not subtracted', ['      missing -= moved\n', '']),
  regression('the sites share a counter that is read too early', [
    '      for (const { site, units } of answers) stock.set(site, units)\n      missing = task.target - (stock.get(task.site) ?? 0)\n',
    '      missing = task.target - (stock.get(task.site) ?? 0)\n      for (const { site, units } of answers) stock.set(site, units)\n',
  ]),
  regression('one site is not asked', ["['north', 'south', 'west']", "['north', 'south']"]),
  regression('transfers go the wrong way', [
    '{ sku, from, to: task.site, units: moved }',
    '{ sku, from: task.site, to: from, units: moved }',
  ]),
  regression('the size of a box is taken from the order before', [
    'const boxes = Math.ceil(Math.min(units, missing) / box)',
    'const boxes = Math.ceil(Math.min(units, missing) / ((await ask(`/suppliers?sku=last`)) as { box: number }).box)',
  ]),
  regression(
    'the audit comes first',
    [
      '  const graph = createReactAgent({',
      "  await ask('/audit', { sku: task.sku, site: task.site, missing })\n  const graph = createReactAgent({",
    ],
    ["  await ask('/audit', { sku: task.sku, site: task.site, missing })\n  return", '  return'],
  ),
  regression('the agent may not order', [
    'tools: [levels, supplier, transfer, reorder]',
    'tools: [levels, supplier, transfer]',
  ]),
  regression('the target is lost on the way', ['up to ${task.target} units', 'up to ${task.target - 10} units']),
  benign('the prompt is worded anew', [
    "'You keep sites in stock. Move what others can spare before you order.'",
    "'Keep every site in stock: first use what other sites can spare, order only then.'",
  ]),
  benign('the task is worded anew', [
    '`Fill ${task.site} up to ${task.target} units of ${task.sku}.`',
    '`Fill ${task.site} up to ${task.target} units of ${task.sku}. Thank you.`',
  ]),
  benign(
    'the sites are asked in another order',
    ["['north', 'south', 'west']", "['west', 'north', 'south']"],
    [
      'return JSON.stringify(Object.fromEntries(answers.map(({ site, units }) => [site, units])))',
      'return JSON.stringify(Object.fromEntries(answers.map(({ site, units }) => [site, units]).toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1))))',
    ],
  ),
  benign('schemas have descriptions', [
    'schema: z.object({ sku: z.string(), from: z.string(), units: z.number() })',
    "schema: z.object({ sku: z.string().describe('article'), from: z.string().describe('site'), units: z.number() })",
  ]),
  benign('the graph may take more steps', ['recursionLimit: 20', 'recursionLimit: 30']),
  benign(
    'an address is made by a helper',
    ['ask(`/levels/${site}/${sku}`)', 'ask(levelPath(site, sku))'],
    ['const sites =', 'const levelPath = (site: string, sku: string) => `/levels/${site}/${sku}`\nconst sites ='],
  ),
  benign('the client has a timeout', [
    "?? 'sk-not-a-key',\n",
    "?? 'sk-not-a-key',\n    timeout: 20_000,\n    maxRetries: 1,\n",
  ]),
  benign('the temperature is set', ["model: 'gpt-5',\n", "model: 'gpt-5',\n    temperature: 0,\n"]),
  benign('the rest is computed in one place', [
    '      missing -= boxes * box\n',
    '      const ordered = boxes * box\n      missing = missing - ordered\n',
  ]),
  benign(
    'levels are kept for the run',
    [
      '  let missing = task.target\n',
      '  let missing = task.target\n  const cache = new Map<string, Promise<unknown>>()\n',
    ],
    [
      '(await ask(`/levels/${site}/${sku}`)) as { units: number }',
      '(await cached(`/levels/${site}/${sku}`)) as { units: number }',
    ],
    [
      '  const levels = tool(',
      '  const cached = (path: string) => {\n    const known = cache.get(path) ?? ask(path)\n    cache.set(path, known)\n    return known\n  }\n  const levels = tool(',
    ],
  ),
]
