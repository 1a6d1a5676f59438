import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Bar, Bench } from '../kit/contract.ts'
import { alikeKinds, lookAlikes, secrets } from './corpus.ts'
import { hostileTexts } from './hurt.ts'
import { ours } from './ours.ts'
import { places } from './places.ts'
import { type Contestant, type Score, score, type Share } from './score.ts'

const bench: Bench = {
  question: 'What of the secrets in a recording is found, and what else is touched?',
  async run({ isQuick, peers, progress }) {
    const peer = (await import(pathToFileURL(join(await peers('secretlint'), 'secretlint.mjs')).href)) as {
      text: Contestant['text']
    }
    const contestants: Readonly<Record<string, () => Contestant>> = {
      ours: () => ours('now'),
      'the first finders': () => ours(1),
      secretlint: () => ({ text: peer.text, body: (bytes) => bytes }),
    }
    const scores = new Map<string, Score[]>()
    for (const [name, make] of Object.entries(contestants)) {
      for (const seed of name === 'secretlint' ? [1] : [1, 2, 3]) {
        progress(`${name}, seed ${seed}`)
        const every = isQuick ? 17 : name === 'secretlint' ? 5 : 1
        scores.set(name, [...(scores.get(name) ?? []), await score(make, seed, every)])
      }
    }
    progress('cost')
    const cost = costs(isQuick ? 10 : 150)
    progress('hostile texts')
    const slow = slowest(isQuick ? 1 : 3)
    const names = [...scores.keys()]
    const of = (name: string): Score[] => scores.get(name)!
    const [mine, theirs] = [of('ours'), of('secretlint')]
    const byPlace = places.map(({ id }) => [
      id,
      ...names.map((name) => share(of(name).map((one) => one.places.get(id)))),
    ])
    const byClass = ['itself', 'surroundings', 'name'].map((id) => [
      `told by ${id}`,
      ...names.map((name) => share(of(name).map((one) => one.classes.get(id)))),
    ])
    const worst = Math.min(...places.map(({ id }) => part(mine.map((one) => one.places.get(id)))))
    const bars: Bar[] = [
      {
        what: 'secrets found in the worst place',
        value: worst,
        limit: { atLeast: 0.98 },
        others: { secretlint: Math.min(...places.map(({ id }) => part(theirs.map((one) => one.places.get(id))))) },
      },
      {
        what: 'look-alikes left as they are',
        value: 1 - changedShare(mine),
        limit: { atLeast: 0.99 },
        others: { secretlint: 1 - changedShare(theirs) },
      },
      {
        what: 'texts that could not be read afterwards, or changed again',
        value: mine.reduce((sum, { broken, unstable }) => sum + broken.length + unstable.length, 0),
        limit: { atMost: 0 },
        others: { secretlint: theirs.reduce((sum, { broken, unstable }) => sum + broken.length + unstable.length, 0) },
      },
      {
        what: 'slowest of the hostile megabytes, ms of the processor',
        value: slow[0]![1],
        limit: { atMost: 250 },
        shortfall:
          'Sixty thousand texts of a list or a hundred and seventy thousand values of a query, each a secret and most of them new: each is found, replaced and searched once more. Of nested base64 the search is what is left.',
      },
      ...cost.map(
        ({ text, ratio }): Bar => ({
          what: `cost of ${text}, ÷ the first finders`,
          value: ratio,
          limit: { atMost: 1 },
        }),
      ),
    ]
    return {
      tables: [
        {
          title: `Found, of ${secrets(1).length} kinds in ${places.length} places`,
          columns: ['', ...names],
          rows: [['everywhere', ...names.map((name) => share(of(name).map(({ all }) => all)))], ...byClass, ...byPlace],
        },
        {
          title: 'Cost, µs per KB',
          columns: ['', 'ours', 'the first finders', '÷'],
          rows: cost.map(({ text, now, before, ratio }) => [text, now.toFixed(1), before.toFixed(1), ratio.toFixed(2)]),
        },
        {
          title: 'Slowest hostile megabytes',
          columns: ['', 'ms', '÷ µs of the first finders for 1 KB of chat'],
          rows: slow.slice(0, 5).map(([name, ms]) => [name, ms.toFixed(0), (ms / cost[0]!.before).toFixed(0)]),
        },
      ],
      bars,
      remarks: [
        'The kinds of the corpus and the finders have two tables, and one author: the share found says that no place and no spelling is forgotten, and nothing about vendors that both do not know.',
        `${alikeKinds} kinds of look-alikes in three to five forms each; those that are changed look like an e-mail address.`,
        'secretlint looks for leaks in files and is not made to take them out of a stream; what it reports was cut out here. Of it each fifth text was looked at.',
      ],
    }
  },
}
export default bench

function part(shares: readonly (Share | undefined)[]): number {
  const [found, put] = shares.reduce(([a, b], one) => [a + (one?.found ?? 0), b + (one?.put ?? 0)], [0, 0])
  return put === 0 ? Number.NaN : found / put
}

function share(shares: readonly (Share | undefined)[]): string {
  return `${(part(shares) * 100).toFixed(1)} %`
}

function changedShare(scores: readonly Score[]): number {
  const [changed, all] = scores.reduce(([a, b], one) => [a + one.changed.length, b + one.alike], [0, 0])
  return changed / all
}

/** Ours beside the first finders, block by block in turn; the least of each, for others use the machine too. */
function costs(rounds: number) {
  // Without what is replaced: what most texts cost is that nothing is found in them.
  const prose = lookAlikes(3).flatMap(({ text }) => (text.includes('@') ? [] : [text]))
  const messages = Array.from({ length: 60 }, (_, n) => ({
    role: n % 2 === 0 ? 'user' : 'assistant',
    content: `Step ${n}: order 4471${n} was shipped on 2026-03-0${n % 9}; it’s fine, reply "yes" or "no".\n${prose[(n * 31) % prose.length]}`,
  }))
  const property = { type: 'string', description: 'The id of the order' }
  const tools = Array.from({ length: 30 }, (_, n) => ({
    type: 'function',
    function: {
      name: `tool_${n}`,
      parameters: { type: 'object', properties: { order_id: property }, required: ['order_id'] },
    },
  }))
  const texts: Readonly<Record<string, string>> = {
    'a chat of 10 KB': JSON.stringify({ model: 'm', messages }).slice(0, 10_240),
    'schemas of 30 tools': JSON.stringify({ tools }),
    'a text of 300 characters': JSON.stringify({ messages }).slice(0, 300),
  }
  return Object.entries(texts).map(([text, content]) => {
    const redactors = [ours('now'), ours(1)] as const
    const least = [Infinity, Infinity]
    const count = Math.ceil(500_000 / content.length)
    for (let round = -1; round < rounds; round++) {
      for (const [at, redactor] of redactors.entries()) {
        const begin = performance.now()
        for (let n = 0; n < count; n++) void redactor.text(content)
        if (round >= 0) least[at] = Math.min(least[at]!, ((performance.now() - begin) * 1_000) / count)
      }
    }
    const [now, before] = least.map((us) => (us / content.length) * 1_024) as [number, number]
    return { text, now, before, ratio: now / before }
  })
}

/** Milliseconds of the processor for one megabyte each, slowest first. */
function slowest(rounds: number): readonly (readonly [name: string, ms: number])[] {
  const texts = hostileTexts(1 << 20)
  const times = [...texts].map(([name, text]) => [name, leastTime(text, rounds)] as const)
  const order = (): void => void times.sort(([, a], [, b]) => b - a)
  order()
  // The slowest are compiled late, and others use the machine too: each round may have been a slow one.
  for (let nth = 0; nth < 10; nth++) {
    const [name, ms] = times[nth]!
    times[nth] = [name, Math.min(ms, leastTime(texts.get(name)!, 2 * rounds))]
  }
  order()
  return times
}

function leastTime(text: string, rounds: number): number {
  let least = Infinity
  for (let round = 0; round < rounds; round++) {
    const begin = process.cpuUsage()
    void ours('now').text(text)
    const { user, system } = process.cpuUsage(begin)
    least = Math.min(least, (user + system) / 1_000)
  }
  return least
}
