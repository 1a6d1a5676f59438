import type { Random } from './random.ts'
import { type Asked, asked } from './request.ts'
import { anyTalk, anyWire, openaiBody, request, type Talk, toolTalk, type Turn } from './talk.ts'
import { httpMutations } from './http-mutations.ts'

/** A way in which what is asked may differ from what was recorded. */
export interface Mutation {
  readonly name: string
  /**
   * Where the difference lies: in what a tape keeps, nowhere (another spelling of the same question), or only in what
   * no tape may keep, such as a key.
   */
  readonly differs: 'kept' | 'nowhere' | 'not kept'
  /** A recorded request, and what is asked in its place. `template` gives a text of the recorded input of the run. */
  pair(random: Random, template: () => string): readonly [recorded: Asked, asked: Asked]
}

/** Changes a talk in one place. */
function conversations(name: string, change: (talk: Talk, random: Random) => void, make = anyTalk): Mutation {
  return {
    name,
    differs: 'kept',
    pair(random) {
      const wire = anyWire(random)
      const talk = make(random)
      const changed = structuredClone(talk)
      change(changed, random)
      return [request(talk, wire), request(changed, wire)]
    },
  }
}

/** Writes the same body differently, or so that it only looks the same. */
function spelling(
  name: string,
  differs: 'kept' | 'nowhere',
  write: (talk: Talk, random: Random) => readonly [string, string],
  isText = false,
): Mutation {
  return {
    name,
    differs,
    pair(random) {
      const [before, now] = write(toolTalk(random), random)
      // What a parser drops is told from the text.
      const made = (body: string): Asked =>
        asked({ path: '/v1/chat/completions', body, ...(isText ? { says: body } : {}) })
      return [made(before), made(now)]
    },
  }
}

/** All of them. */
export const mutations: readonly Mutation[] = [
  {
    name: 'unchanged',
    differs: 'nowhere',
    pair(random) {
      const same = request(random.chance(0.5) ? anyTalk(random) : toolTalk(random), anyWire(random))
      return [same, same]
    },
  },
  conversations('one digit of the question', (talk, random) => edit(talk, (text) => otherDigit(text, random))),
  conversations('a longer number with the same beginning', (talk, random) =>
    edit(talk, (text) => text.replace(/(\d+)(?!.*\d)/, `$1${random.int(0, 9)}`)),
  ),
  conversations('a word of the same length', (talk) => edit(talk, (text) => swapWord(text))),
  conversations('one character of case or space', (talk, random) =>
    edit(talk, (text) => (random.chance(0.5) ? text.replace(/[A-Z]/, (letter) => letter.toLowerCase()) : `${text} `)),
  ),
  conversations('a character that looks alike', (talk, random) =>
    edit(talk, (text) => {
      const [from, to] = random.pick([
        ['o', '\u043e'],
        ['e', '\u0435'],
        [' ', '\u00a0'],
        [/$/, '\u200b'],
      ])
      return text.replace(from ?? '', String(to))
    }),
  ),
  {
    name: 'another Unicode form of the same text',
    differs: 'kept',
    pair(random) {
      const talk = anyTalk(random)
      const wire = anyWire(random)
      const changed = structuredClone(talk)
      const name = random.pick(['Zoë Müller', 'Ångström', 'café crème', 'ﬁnal'])
      edit(talk, (text) => `${text} ${name.normalize('NFC')}`)
      edit(changed, (text) => `${text} ${name.normalize(name.includes('ﬁ') ? 'NFKC' : 'NFD')}`)
      return [request(talk, wire), request(changed, wire)]
    },
  },
  conversations(
    'two messages in the other order',
    (talk) => {
      const last = talk.turns.pop() as Turn
      talk.turns.splice(-1, 0, last)
    },
    withTwoQuestions,
  ),
  conversations('a message left out', (talk) => talk.turns.splice(0, 1), withTwoQuestions),
  conversations('a message more', (talk, random) =>
    talk.turns.push({ role: 'user', text: `And order ${random.int(1, 99)}?` }),
  ),
  conversations(
    'two ids in each other’s place',
    (talk) => {
      const results = talk.turns.filter((turn) => turn.role === 'tool')
      const [one, two] = results
      if (one && two) [one.id, two.id] = [two.id, one.id]
    },
    toolTalk,
  ),
  conversations(
    'an argument of a tool call',
    (talk, random) => {
      const { args } = callOf(talk, 1)
      if (random.chance(0.5)) args['amount'] = Number(args['amount']) + random.pick([1, 10, 0.01])
      else args['order'] = `A-${random.int(10, 99_999)}x`
    },
    toolTalk,
  ),
  conversations(
    'an argument of another type',
    (talk, random) => {
      const { args } = callOf(talk, random.int(0, 1))
      if ('amount' in args) args['amount'] = random.pick([String(args['amount']), null, [args['amount']]])
      else args['expand'] = random.pick([String(args['expand']), Number(args['expand'])])
    },
    toolTalk,
  ),
  conversations(
    'an argument more or less',
    (talk, random) => {
      const { args } = callOf(talk, 1)
      if (random.chance(0.5)) delete args['currency']
      else args['force'] = random.pick([true, null, ''])
    },
    toolTalk,
  ),
  conversations(
    'the tool that is called',
    (talk) => {
      callOf(talk, 1).name = 'charge'
    },
    toolTalk,
  ),
  conversations(
    'the result of a tool',
    (talk, random) => {
      const result = talk.turns.findLast((turn) => turn.role === 'tool')
      if (result) result.text = otherDigit(result.text.replace(/"ref":"[^"]*"/, '"ref":"x"'), random)
    },
    toolTalk,
  ),
  conversations(
    'an image, by one byte',
    (talk, random) => {
      const turn = talk.turns.find((each) => each.role === 'user' && each.image !== undefined)
      if (turn?.role !== 'user' || turn.image === undefined) return
      const bytes = Buffer.from(turn.image, 'base64')
      const at = random.int(0, bytes.length - 1)
      bytes[at] = (bytes[at] ?? 0) ^ 1
      turn.image = bytes.toString('base64')
    },
    withImage,
  ),
  conversations('the model', (talk) => {
    talk.model = talk.model === 'invented-large-1' ? 'invented-large-2' : 'invented-large-1'
  }),
  conversations('the temperature', (talk) => {
    talk.settings['temperature'] = Number(talk.settings['temperature']) === 0.7 ? 0.1 : 0.7
  }),
  conversations('another setting', (talk, random) => {
    const [name, value] = random.pick<readonly [string, unknown]>([
      ['top_p', 0.5],
      ['stop_sequences', ['END']],
      ['tool_choice', { type: 'auto' }],
      ['metadata', { tenant: 'b' }],
      ['user', 'b'],
      ['n', 2],
      ['modalities', ['audio']],
      ['seed', 7],
    ])
    talk.settings[name] = value
  }),
  conversations('the system prompt', (talk, random) => {
    talk.system = random.pick([
      'You sell coffee.',
      `${talk.system} Never refund.`,
      otherDigit(`${talk.system} 5`, random),
    ])
  }),
  conversations('the schema of a tool', (talk, random) => {
    const [tool] = talk.tools
    if (!tool) talk.tools = [{ name: 'charge', description: 'Charges', properties: {} }]
    else if (random.chance(0.5)) tool.properties['reason'] = 'string'
    else tool.description += '!'
  }),
  {
    name: 'whole or as a stream',
    differs: 'nowhere',
    // The form of an answer is no part of the question, where its address does not say it: what was recorded whole is served as
    // a stream, and the other way round.
    pair(random) {
      for (;;) {
        const [wire, talk] = [anyWire(random), anyTalk(random)]
        const [before, now] = [request(talk, wire), request({ ...talk, stream: !talk.stream }, wire)]
        if (before.path === now.path) return [before, { ...now, meaning: before.meaning }]
      }
    },
  },
  {
    name: 'a template worded anew around the same data',
    differs: 'kept',
    pair(random, template) {
      const [talk, wire, data] = [anyTalk(random), anyWire(random), template()]
      const changed = structuredClone(talk)
      const [before, now] = random.pick([
        [`Decide about this ticket: ${data}`, `Here is a ticket, say what to do: ${data}`],
        [`Please approve this: ${data}`, `Please deny this: ${data}`],
        [`Answer shortly. ${data}`, `Answer at length, and friendly. ${data}`],
      ])
      talk.turns = [{ role: 'user', text: before ?? '' }]
      changed.turns = [{ role: 'user', text: now ?? '' }]
      return [request(talk, wire), request(changed, wire)]
    },
  },
  spelling('other spaces', 'nowhere', (talk) => {
    const body = openaiBody(talk)
    return [JSON.stringify(body), JSON.stringify(body, null, 2)]
  }),
  spelling('other order of keys', 'nowhere', (talk) => {
    const { model, messages, ...rest } = openaiBody(talk)
    return [JSON.stringify({ model, messages, ...rest }), JSON.stringify({ ...rest, messages, model })]
  }),
  spelling('a number in another spelling', 'nowhere', (talk, random) => {
    const value = random.int(1, 9)
    const body = (number: string): string => withNumber(talk, number)
    return [body(`${value}`), body(random.pick([`${value}.0`, `${value}e0`, `${value}0e-1`]))]
  }),
  spelling('characters in another spelling', 'nowhere', (talk) => {
    edit(talk, (text) => `${text} ü/"`)
    const text = JSON.stringify(openaiBody(talk))
    return [text, text.replace('ü', '\\u00fc').replace('/', '\\/')]
  }),
  spelling('a number beyond 2⁵³, by one', 'kept', (talk, random) => {
    const number = 9_007_199_254_740_993n + BigInt(random.int(0, 1e9)) * 2n
    return [withNumber(talk, `${number}`), withNumber(talk, `${number - 1n}`)]
  }),
  spelling('a number by its last digit', 'kept', (talk, random) => {
    const digits = `${random.int(1e7, 9e7)}${random.int(1e7, 9e7)}`
    return [withNumber(talk, `0.${digits}11`), withNumber(talk, `0.${digits}12`)]
  }),
  spelling(
    'a key that stands twice',
    'kept',
    (talk, random) => {
      const order = random.int(1, 99_999)
      const twice = (first: number): string => withNumber(talk, `{"order":${first},"order":${order}}`)
      return [twice(order + 1), twice(order + 2)]
    },
    true,
  ),
  ...httpMutations,
]

/** Changes the last user message. */
function edit(talk: Talk, change: (text: string) => string): void {
  const turn = talk.turns.findLast((each) => each.role === 'user')
  if (turn) turn.text = change(turn.text)
}

function otherDigit(text: string, random: Random): string {
  const places = [...text.matchAll(/\d/g)].map(({ index }) => index)
  if (places.length === 0) return `${text}1`
  const at = random.pick(places)
  return `${text.slice(0, at)}${(Number(text[at]) + random.int(1, 8)) % 10}${text.slice(at + 1)}`
}

const swaps = [
  ['order', 'offer'],
  ['Where', 'There'],
  ['Book', 'Boot'],
  ['Move', 'Save'],
  ['Is ', 'Be '],
] as const

function swapWord(text: string): string {
  const [from, to] = swaps.find(([word]) => text.includes(word)) ?? ['', '!']
  return text.replace(from, to)
}

function callOf(talk: Talk, at: number): { id: string; name: string; args: Record<string, unknown> } {
  const calls = talk.turns.flatMap((turn) => (turn.role === 'assistant' ? (turn.calls ?? []) : []))
  const call = calls[at]
  if (!call) throw new RangeError(`a talk of tools has no call ${at}`)
  return call
}

function withTwoQuestions(random: Random): Talk {
  const talk = anyTalk(random)
  talk.turns = [
    { role: 'user', text: `Order ${random.int(10, 99_999)} first.` },
    { role: 'user', text: `Then account ${random.id(6)}.` },
    ...(random.chance(0.5) ? [{ role: 'user' as const, text: 'Be quick.' }] : []),
  ]
  return talk
}

function withImage(random: Random): Talk {
  const talk = anyTalk(random)
  const image = Buffer.from(Array.from({ length: random.int(30, 300) }, () => random.int(0, 255))).toString('base64')
  talk.turns = [{ role: 'user', text: 'What is in this picture?', image }]
  return talk
}

/** A body with a number in it, spelt as given. */
function withNumber(talk: Talk, number: string): string {
  const body = { ...openaiBody(talk), metadata: { weight: '#' } }
  return JSON.stringify(body).replace('"#"', number)
}
