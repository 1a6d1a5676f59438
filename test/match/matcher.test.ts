import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type FoundDrift, Matcher, type Match, type MatchRequest } from '../../src/match/matcher.ts'
import { StepOrder } from '../../src/playback/order.ts'
import { type ExchangeState, stepStates } from '../../src/match/step.ts'
import type { MatchLevel } from '../../src/match/types.ts'
import { targetOf } from '../../src/match/target.ts'
import { readModelRequest } from '../../src/providers/index.ts'
import { Changes } from '../../src/replay/change.ts'
import { type Json, readTape, requestBytes, type Tape } from '../../src/tape/index.ts'
import { type Asked, chat, chatUrl, Recording, tapeOf } from '../replay/tapes.ts'
import { often } from '../support/often.ts'

/** Asks a matcher as a run does, and takes what it found. */
class Asker {
  readonly steps: readonly ExchangeState[]
  readonly #matcher: Matcher

  constructor(tape: Tape, serve: MatchLevel = 'reworded') {
    const states = stepStates(tape)
    const order = new StepOrder(states)
    this.steps = states.filter((step): step is ExchangeState => step.event.kind === 'exchange')
    this.#matcher = new Matcher(this.steps, serve, tape.header, (step) => order.isDue(step), { isByOrder: true })
  }

  ask({
    method = 'POST',
    url = chatUrl,
    body = '',
  }: Asked): Match & { readonly served?: number; readonly classes?: readonly string[] } {
    const question: MatchRequest = { via: 'undici', method, url, bodyText: body, target: '' }
    const answer = this.#matcher.find(question)
    if (answer.kind !== 'found') return answer
    answer.step.taken = true
    answer.step.answered = true
    return { ...answer, served: this.steps.indexOf(answer.step), classes: answer.drift.map((drift) => drift.class) }
  }
}

function ask(recorded: readonly Asked[], live: Asked, input?: Json): ReturnType<Asker['ask']> {
  return new Asker(tapeOf(recorded, input === undefined ? {} : { input })).ask(live)
}

describe('request matching goes from the same to the reworded', () => {
  test('a body that is the same byte for byte is exact, without drift', () => {
    expect(ask([{ body: chat('hi') }], { body: chat('hi') })).toMatchObject({ level: 'exact', drift: [] })
  })

  test('the same JSON written differently is canonical, with encoding drift', () => {
    const live = { body: `{ "messages": [{"content":"h\\u0069","role":"user"}], "model": "m-1" }` }
    expect(ask([{ body: chat('hi') }], live)).toMatchObject({ level: 'canonical', classes: ['encoding'] })
  })

  test('the greeting of an upgraded MCP client is canonical and says so; with other abilities it is another question', () => {
    const url = 'https://files.test/mcp'
    const greeting = (version: string, capabilities = {}, protocolVersion = '2025-06-18') =>
      JSON.stringify({
        jsonrpc: '2.0',
        id: 0,
        method: 'initialize',
        params: { protocolVersion, capabilities, clientInfo: { name: 'docs', version } },
      })
    const recorded = [{ url, body: greeting('1.0.0') }]
    expect(ask(recorded, { url, body: greeting('1.0.1') })).toMatchObject({
      level: 'canonical',
      drift: [{ class: 'bookkeeping', path: 'params.clientInfo.version', recorded: '1.0.0', live: '1.0.1' }],
    })
    expect(ask(recorded, { url, body: greeting('1.0.0', {}, '2025-11-25') })).toMatchObject({
      level: 'canonical',
      drift: [{ class: 'bookkeeping', path: 'params.protocolVersion', recorded: '2025-06-18', live: '2025-11-25' }],
    })
    expect(ask(recorded, { url, body: greeting('1.0.1', { roots: {} }) })).toMatchObject({ kind: 'none' })
  })

  test('a body of another protocol that looks like the greeting of an MCP client is compared whole', () => {
    const url = 'https://billing.test/jobs'
    const job = (tenant: string, protocolVersion = 'v1') =>
      JSON.stringify({ id: 1, method: 'initialize', params: { clientInfo: { tenant }, protocolVersion } })
    expect(ask([{ url, body: job('acme') }], { url, body: job('acme') }).kind).toBe('found')
    expect(ask([{ url, body: job('acme') }], { url, body: job('globex') }).kind).toBe('none')
    expect(ask([{ url, body: job('acme') }], { url, body: job('acme', 'v2') }).kind).toBe('none')
  })

  test('the same query in another order is canonical, values of one name in another order are another question', () => {
    const recorded = [{ method: 'GET', url: 'https://shop.test/orders?id=1&id=2&sort=up' }]
    const ask2 = (query: string) => ask(recorded, { method: 'GET', url: `https://shop.test/orders?${query}` }).kind
    expect(ask2('sort=up&id=1&id=2')).toBe('found')
    expect(ask2('id=2&id=1&sort=up')).toBe('none')
    expect(ask2('id=1%26id%3D2&sort=up')).toBe('none')
  })

  test.each([
    ['name=M%FCller', 'name=M%F6ller'],
    ['name=%FF', 'name=%EF%BF%BD'],
    ['phone=+4915', 'phone=%2B4915'],
    ['acl', 'acl='],
    ['op=add&id=1&op=remove&id=2', 'op=add&op=remove&id=1&id=2'],
  ])('the query %s is another question than %s', (one, other) => {
    const url = (query: string) => ({ method: 'GET', url: `https://shop.test/orders?${query}` })
    expect(ask([url(one)], url(other)).kind).toBe('none')
    expect(ask([url(other)], url(one)).kind).toBe('none')
    expect(ask([url(`${one}&z=1`)], url(`z=1&${one}`)).kind).toBe('found')
  })

  test.each([
    ['phone=+4915', 'phone=%204915'],
    ['at=10:30', 'at=10%3A30'],
    ['c=a|b^`', 'c=a%7Cb%5E%60'],
    ['c={a:1}', 'c=%7Ba%3A1%7D'],
    ['c=YQ==', 'c=YQ%3D%3D'],
    ['a=1&&b=2&', 'a=1&b=2'],
    ["q=(a,b)'!*$", 'q=%28a%2Cb%29%27%21%2A%24'],
    ['ids[]=1&to=/a?b@c', 'ids%5B%5D=1&to=%2Fa%3Fb%40c'],
  ])('the query %s is the same question as %s, as another client writes it', (one, other) => {
    const url = (query: string) => ({ method: 'GET', url: `https://shop.test/orders?${query}` })
    expect(ask([url(one)], url(other)).kind).toBe('found')
    expect(ask([url(other)], url(one)).kind).toBe('found')
  })

  test('what separates pairs is another byte where it is escaped', () => {
    for (const [one, other] of [
      ['a=1&b=2', 'a=1%26b=2'],
      ['a%3D1=2', 'a=1=2'],
      ['a=1;2', 'a=1%3B2'],
      ['a=%252F', 'a=%2F'],
    ] as const)
      expect(
        ask([{ method: 'GET', url: `https://shop.test/?${one}` }], {
          method: 'GET',
          url: `https://shop.test/?${other}`,
        }).kind,
      ).toBe('none')
  })

  const octet = fc.integer({ min: 1, max: 255 })
  test('no query of other bytes is the same question', () => {
    const escaped = (octets: readonly number[]) => octets.map((one) => `%${one.toString(16).padStart(2, '0')}`).join('')
    fc.assert(
      fc.property(fc.array(octet, { minLength: 1, maxLength: 5 }), fc.nat({ max: 4 }), octet, (octets, at, other) => {
        const url = (given: readonly number[]) => ({ method: 'GET', url: `https://shop.test/a?b=${escaped(given)}` })
        const changed = octets.with(at % octets.length, other)
        const isSame = escaped(octets) === escaped(changed)
        expect(ask([url(octets)], url(changed)).kind === 'found').toBe(isSame)
      }),
      { seed: 5, numRuns: 300 },
    )
  })

  test.for([
    ['model', { model: 'm-2' }],
    ['tools', { tools: [{ type: 'function', function: { name: 'refund' } }] }],
    ['params', { temperature: 0.2 }],
  ] as const)('a changed %s is served with drift of that class', ([kind, change]) => {
    const answer = ask([{ body: chat('hi') }], { body: chat('hi', change) })
    expect(answer).toMatchObject({ level: 'conversation', classes: [kind] })
  })

  test('changed instructions are served with drift that names the place', () => {
    const body = (system: string) =>
      chat('', {
        messages: [
          { role: 'system', content: system },
          { role: 'user', content: 'hi' },
        ],
      })
    const answer = ask([{ body: body('You sell tea.') }], { body: body('You sell coffee.') })
    expect(answer).toMatchObject({
      classes: ['instructions'],
      drift: [{ path: 'instructions[0].content', recorded: 'You sell tea.', live: 'You sell coffee.' }],
    })
  })

  test.for([
    ['wording', 'Please refund order A-17 of Greta Holm', 'Kindly give the money back: order A-17 of Greta Holm'],
    ['a digit', 'Refund order A-17 of Greta Holm', 'Refund order A-18 of Greta Holm'],
    ['a negation', 'Greta Holm may have the money', 'Greta Holm may not have the money'],
    ['another language', 'Refund Greta Holm', 'Erstatte Greta Holm das Geld'],
  ] as const)(
    'a message that changed in %s is data, whatever the words are, and is served at its place',
    ([, was, now]) => {
      const answer = ask([{ body: chat(was) }], { body: chat(now) })
      expect(answer).toMatchObject({ level: 'reworded', drift: [{ class: 'messages', isData: true }] })
    },
  )

  test('a change of nothing but white space has a class of its own', () => {
    const answer = ask([{ body: chat('Refund order A-17') }], { body: chat('Refund  order A-17\n') })
    expect(answer).toMatchObject({ classes: ['whitespace'] })
    expect(ask([{ body: chat('re fund') }], { body: chat('refund') })).toMatchObject({ classes: ['messages'] })
  })

  test('a model call that is not due yet does not answer a changed one', () => {
    const turn = [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: 'yes?' },
      { role: 'user', content: 'go' },
    ]
    const recorded = [{ body: chat('hi') }, { body: chat('', { messages: turn }) }]
    const changed = turn.map((one, i) => (i === 2 ? { ...one, content: 'stop' } : one))
    const asker = new Asker(tapeOf(recorded))
    expect(asker.ask({ body: chat('', { messages: changed }) }).kind).toBe('none')
    expect(asker.ask({ body: chat('hi') }).served).toBe(0)
    expect(asker.ask({ body: chat('', { messages: changed }) })).toMatchObject({ served: 1, classes: ['messages'] })
  })

  test('each rung can be forbidden', () => {
    const tape = tapeOf([{ body: chat('hi') }])
    const written = { body: chat('hi').replaceAll(':', ': ') }
    expect(new Asker(tape, 'exact').ask(written).kind).toBe('none')
    expect(
      new Asker(tapeOf([{ body: chat('hi') }]), 'canonical').ask({ body: chat('hi', { temperature: 0.5 }) }).kind,
    ).toBe('none')
  })

  test('of two requests of the same bytes, each is found by the operation that its headers name', () => {
    const tape = tapeOf([{ body: '{}' }, { body: '{}' }])
    const names = ['Orders.Get', 'Orders.Cancel']
    for (const [i, event] of tape.events.entries())
      if (event.kind === 'exchange') Object.assign(event.request, { headers: [['x-amz-target', names[i]]] })
    const steps = stepStates(tape).filter((step): step is ExchangeState => step.event.kind === 'exchange')
    const matcher = new Matcher(steps, 'exact', tape.header, () => true)
    const asked = (name: string): MatchRequest => {
      const target = targetOf([['x-amz-target', name]])
      return { via: 'undici', method: 'POST', url: chatUrl, bodyText: '{}', target }
    }
    expect(matcher.find(asked('Orders.Cancel'))).toMatchObject({ kind: 'found', step: steps[1] })
    expect(matcher.find(asked('Orders.Get'))).toMatchObject({ kind: 'found', step: steps[0] })
    expect(matcher.find(asked('Orders.List'))).toMatchObject({ kind: 'none' })
    expect(matcher.holds(asked('Orders.Cancel'))).toBe(true)
    expect(matcher.holds(asked('Orders.List'))).toBe(false)
  })

  test('the same question asked several times gets its answers in recorded order, then none', () => {
    const asker = new Asker(tapeOf([{ body: chat('dice') }, { body: chat('dice') }, { body: chat('other') }]))
    const answers = [1, 2, 3].map(() => asker.ask({ body: chat('dice') }))
    expect(answers.map((answer) => answer.served ?? answer.kind)).toEqual([0, 1, 'none'])
    expect(answers[2]).toMatchObject({ exhausted: true })
  })

  test('an imported recording that spells one question in two ways answers it in its order', () => {
    const [spaced, plain] = [{ body: chat('dice').replaceAll(':', ': ') }, { body: chat('dice') }]
    const own = tapeOf([spaced, plain, spaced])
    const imported = { format: 'vcrpy', grade: 'replayable', missing: [] } as const
    const served = (tape: Tape) => {
      const asker = new Asker(tape)
      return [1, 2, 3, 4].map(() => asker.ask(plain)).map((answer) => answer.served ?? answer.kind)
    }
    expect(served({ ...own, header: { ...own.header, imported } })).toEqual([0, 1, 2, 'none'])
    // One agent spells one question in one way.
    expect(served(own)).toEqual([1, 0, 2, 'none'])
  })

  const body = (fields: object): string => JSON.stringify(fields)
  const turn = { messages: [{ role: 'user', content: 'hi' }] }
  const gemini = { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] }
  const converse = { messages: [{ role: 'user', content: [{ text: 'hi' }] }] }
  const chatAt = (path: string) => (model: string) => ({
    url: `https://llm.test${path.replace('*', model)}`,
    body: body({ model, ...turn }),
  })
  const inPath = (path: string, fields: object) => (model: string) => ({
    url: `https://llm.test${path.replace('*', encodeURIComponent(model))}`,
    body: body(fields),
  })
  const places: { readonly [name: string]: (model: string) => Asked } = {
    'the body, OpenAI Chat': chatAt('/v1/chat/completions'),
    'the body, at a place of a gateway': chatAt('/m/agents/chat/run/v1/chat/completions'),
    'the body, OpenAI Responses': (model) => ({
      url: 'https://llm.test/v1/responses',
      body: body({ model, input: 'hi' }),
    }),
    'the body, Anthropic': (model) => ({
      url: 'https://llm.test/v1/messages?beta=true',
      body: body({ model, max_tokens: 5, ...turn }),
    }),
    'the path and the body, Hugging Face': chatAt('/hf-inference/models/*/v1/chat/completions'),
    'the path, Gemini': inPath('/v1beta/models/*:generateContent', gemini),
    'the path, Vertex': inPath('/v1/projects/m/locations/v1/publishers/chat/models/*:generateContent', gemini),
    'the path, Bedrock': inPath('/model/*/converse', converse),
    'the path, Azure': (model) =>
      inPath('/openai/deployments/*/chat/completions?api-version=v1', turn)(model.replaceAll('/', '-')),
  }
  test.for(
    Object.keys(places).flatMap((place) =>
      [
        ['m', 'm2'],
        ['chat', 'reason'],
        ['reason', 'completions'],
        ['v1', 'v2'],
        ['completion', 'other'],
        ['models', 'model'],
        ['acme/small(1):a', 'acme/large:b'],
      ].map(([one, other]) => [place, one!, other!] as const),
    ),
  )('a model named in %s is the only change where %s becomes %s', ([place, one, other]) => {
    const asked = places[place]!
    expect(ask([asked(one)], asked(other))).toMatchObject({ kind: 'found', classes: ['model'] })
    expect(ask([asked(other)], asked(one))).toMatchObject({ kind: 'found', classes: ['model'] })
  })

  test('a model that is named like a segment of its path, or like the beginning of one, is no place of the path: another path is another endpoint', () => {
    const at = (path: string, model: string): Asked => ({ ...chatAt(path)(model) })
    expect(ask([at('/v1/chat/completions', 'v1')], at('/v2/chat/completions', 'v2'))).toMatchObject({
      classes: ['endpoint', 'model'],
    })
    const longer = [at('/v1/deployments/m-large/chat/completions', 'm')]
    expect(ask(longer, at('/v1/deployments/n-large/chat/completions', 'n'))).toMatchObject({
      classes: ['endpoint', 'model'],
    })
  })

  test('a model call that is only spelled anew, at another path of its host, is encoding and not instructions', () => {
    const recorded = chat('hi', { temperature: 1 })
    const answer = ask([{ body: recorded.replace('"temperature":1', '"temperature":1.0') }], {
      url: 'https://api.openai.com/openai/v1/chat/completions',
      body: recorded,
    })
    expect(answer).toMatchObject({ level: 'conversation', classes: ['endpoint', 'encoding'] })
  })
})

describe('an address and a body in another spelling', () => {
  test('an escape may be written in either case, in the path and in the query', () => {
    const recorded = { method: 'GET', url: 'https://shop.test/orders/a%2fb%3A1?at=x%2fy' }
    expect(ask([recorded], { method: 'GET', url: 'https://shop.test/orders/a%2Fb%3a1?at=x%2Fy' })).toMatchObject({
      kind: 'found',
      level: 'canonical',
    })
    expect(ask([recorded], { method: 'GET', url: 'https://shop.test/orders/a/b%3A1?at=x%2fy' }).kind).toBe('none')
  })

  // RFC 3986, 6.2.2.2: with or without their escapes, such addresses are equivalent; a slash is none of these signs.
  test('a letter, a digit or one of -._~ may be escaped or not', () => {
    const recorded = { method: 'GET', url: 'https://shop.test/%7Eada/a%2Fb%252F%41?x=%7E' }
    const asked = (url: string) => ask([recorded], { method: 'GET', url })
    expect(asked('https://shop.test/~ada/a%2Fb%252FA?x=~')).toMatchObject({ kind: 'found', level: 'canonical' })
    for (const other of ['~ada/a/b%252FA', '~ada/a%2Fb%2FA', '~ada/a%2Fb%252Fa'])
      expect(asked(`https://shop.test/${other}?x=~`).kind).toBe('none')
  })

  // RFC 8259, 6: a number is its value, "a good interoperability can be achieved" within the precision of doubles.
  test('a number may be written with a fraction of nought, as long as that is the same double', () => {
    const [whole, fraction] = ['{"amount":1}', '{"amount":1.0}']
    const url = 'https://shop.test/refunds'
    expect(ask([{ url, body: whole }], { url, body: fraction })).toMatchObject({
      level: 'canonical',
      classes: ['encoding'],
    })
    expect(ask([{ url, body: fraction }], { url, body: whole })).toMatchObject({
      level: 'canonical',
      classes: ['encoding'],
    })
    expect(ask([{ url, body: '{"id":9007199254740993}' }], { url, body: '{"id":9007199254740992}' }).kind).toBe('none')
  })

  test('beside a number that no double holds, all are still compared by their values, and it digit by digit', () => {
    const url = 'https://shop.test/refunds'
    const recorded = '{"id":9007199254740993,"rate":1.10,"limit":1e2,"none":-0,"text":"1.10","far":1e400,"0":[1E+2]}'
    const asked = (body: string) => ask([{ url, body: recorded }], { url, body })
    const spelled = [
      '{"0":[100],"id":9007199254740993,"rate":1.1,"limit":100.0,"none":-0.0,"text":"1.10","far":10e399}',
      '{"id":9007199254740993e0,"rate":11e-1,"limit":100,"none":-0e0,"text":"1.10","far":1.0E+400,"0":[1e2]}',
      '{"id":9007199254740993.0,"rate":1.1,"limit":1e2,"none":-0,"text":"\\u0031.10","far":1e400,"0":[1e2]}',
    ]
    for (const body of spelled)
      expect([body, asked(body)]).toMatchObject([body, { level: 'canonical', classes: ['encoding'] }])
    const others = [
      ['9007199254740993', '9007199254740992'],
      ['9007199254740993', '9007199254740994'],
      ['9007199254740993', '-9007199254740993'],
      ['9007199254740993', '90071992547409930'],
      ['9007199254740993', '"9007199254740993"'],
      ['9007199254740993', '"\\u0000#9007199254740993e0"'],
      ['-0', '0'],
      ['1.10', '1.01'],
      ['1e2', '1e3'],
      ['1e400', '1e401'],
      ['"text":"1.10"', '"text":"1.1"'],
      ['"text":"1.10"', '"text":1.1'],
    ] as const
    for (const [was, is] of others) expect([is, asked(recorded.replace(was, is)).kind]).toEqual([is, 'none'])
    // Two texts of one double are two numbers, however they are written.
    for (const [was, is] of [
      ['1e23', '99999999999999991611392'],
      ['1e23', '100000000000000000000001'],
    ] as const)
      expect(ask([{ url, body: `[${was}]` }], { url, body: `[${is}]` }).kind).toBe('none')
    expect(ask([{ url, body: '[1e23]' }], { url, body: '[100000000000000000000000]' })).toMatchObject({
      level: 'canonical',
    })
    // Which of two equal keys a reader takes is its own affair: such a body stands for itself.
    expect(ask([{ url, body: '{"a":1,"a":1.10}' }], { url, body: '{"a":1,"a":1.1}' }).kind).toBe('none')
  })
})

describe('one of two calls that are made at once', () => {
  const call = (system: string, words: string): { readonly body: string } => ({
    body: chat(words, {
      messages: [
        { role: 'system', content: system },
        { role: 'user', content: words },
      ],
    }),
  })
  const twoAtOnce = (one: Asked, other: Asked): Asker => {
    const recording = new Recording()
    recording.exchange(one)
    recording.exchange(other)
    recording.atOnce(2)
    return new Asker(recording.tape())
  }
  const day = 'Text of the day'

  test('is told by its instructions when its message changed', () => {
    for (const [at, system] of ['You sum up.', 'You translate.'].entries())
      expect(
        twoAtOnce(call('You sum up.', day), call('You translate.', day)).ask(call(system, 'Text of another day')),
      ).toMatchObject({ served: at, classes: ['messages'] })
  })

  test('is told by its place when its instructions changed too, or are those of both, and the difference says so', () => {
    const part = expect.stringContaining('of a call matched by order')
    for (const systems of [
      ['You sum up.', 'You translate.'],
      ['You sum up.', 'You sum up.'],
    ]) {
      const asker = twoAtOnce(call(systems[0]!, day), call(systems[1]!, 'Text of the night'))
      const first = asker.ask(call('You write.', 'Text of another week'))
      expect(first).toMatchObject({
        served: 0,
        drift: [
          { class: 'instructions', part },
          { class: 'messages', part },
        ],
      })
      expect(asker.ask(call('You write.', 'Text of a year'))).toMatchObject({ served: 1, drift: [{}, {}] })
    }
  })

  test('is told by nothing when its words are those of the one and its place is that of the other', () => {
    const [sea, bank] = ['You are a poet who loves the sea', 'Check this contract for a bank']
    const changed = call('You help.', `${bank} today`)
    expect(twoAtOnce(call('You help.', sea), call('You help.', bank)).ask(changed)).toMatchObject({
      kind: 'ambiguous',
      candidates: [{ number: 1 }, { number: 2 }],
    })
    expect(twoAtOnce(call('You help.', bank), call('You help.', sea)).ask(changed)).toMatchObject({ served: 0 })
  })

  test('is told by its settings when they are those of the one alone', () => {
    const of = (words: string, model: string): Asked => ({ body: chat(words, { model }) })
    const asker = twoAtOnce(of('Text of the day', 'm-1'), of('Text of the night', 'm-2'))
    expect(asker.ask(of('A word', 'm-2'))).toMatchObject({ served: 1 })
    expect(asker.ask(of('A word', 'm-1'))).toMatchObject({ served: 0 })
  })

  test('is not told by its place when it has more messages than the one that is due', () => {
    const asker = twoAtOnce(call('You sum up.', day), call('You sum up.', 'Text of the night'))
    const messages = ['one', 'two'].map((content) => ({ role: 'user', content }))
    expect(asker.ask({ body: chat('', { messages }) }).kind).toBe('none')
    const mixed = twoAtOnce({ body: chat('', { messages }) }, { body: chat('Text of the night') })
    expect(mixed.ask({ body: chat('other words') }).kind).toBe('ambiguous')
  })
})

describe('a request in another spelling of its provider', () => {
  const parts = chat('', { messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }] })
  const one = chat('hi', { temperature: 1 })

  test('is canonical, with encoding drift and no other', () => {
    expect(ask([{ body: one }], { body: parts })).toMatchObject({ level: 'canonical', classes: ['encoding'] })
    expect(ask([{ body: parts }], { body: one })).toMatchObject({ level: 'canonical', classes: ['encoding'] })
    expect(new Asker(tapeOf([{ body: one }]), 'exact').ask({ body: parts }).kind).toBe('none')
  })

  test('has no drift of its own beside a change', () => {
    const other = chat('hi', { temperature: 1, messages: JSON.parse(parts).messages, seed: 3 })
    expect(ask([{ body: chat('hi') }], { body: other })).toMatchObject({ drift: [{ path: 'params.seed' }] })
  })

  test('is read as the recorded host reads it, when another one stands for that', () => {
    const live = { url: 'http://localhost:4000/v1/chat/completions', body: parts }
    expect(ask([{ body: one }], live)).toMatchObject({ level: 'canonical', classes: ['encoding', 'endpoint'] })
    // Recorded there, nobody knows the defaults of what answered.
    const here = { url: live.url, body: one }
    expect(ask([here], live)).toMatchObject({ level: 'conversation', classes: ['params'] })
  })
})

describe('a request to Gemini in the other spelling', () => {
  const url = 'https://generativelanguage.googleapis.com/v1beta/models/gemini-1:generateContent'
  const result = (name: string, response: string, text = 'Order A-17 is late.'): Asked => ({
    url,
    body: JSON.stringify({ contents: [{ role: 'user', parts: [{ [name]: { name: 'f', [response]: { text } } }] }] }),
  })
  const asked = (instructions: string, config: string, topP: string): Asked => ({
    url,
    body: JSON.stringify({
      contents: [{ parts: [{ text: 'hi' }] }],
      [instructions]: { parts: [] },
      [config]: { [topP]: 1 },
    }),
  })

  test('is the same question', () => {
    const recorded = asked('systemInstruction', 'generationConfig', 'topP')
    const live = asked('system_instruction', 'generation_config', 'top_p')
    expect(ask([recorded], live)).toMatchObject({ level: 'canonical', classes: ['encoding'] })
    expect(ask([live], recorded)).toMatchObject({ level: 'canonical', classes: ['encoding'] })
    expect(new Asker(tapeOf([recorded]), 'exact').ask(live).kind).toBe('none')
  })

  test('is the same question with its bytes in the other alphabet, and another one with other bytes', () => {
    const told = (signature: string, image: string): Asked => ({
      url,
      body: JSON.stringify({
        contents: [
          { parts: [{ functionCall: { name: 'f', args: { data: '-_-_' } }, thoughtSignature: signature }] },
          {
            parts: [
              { inlineData: { mimeType: 'image/png', data: image } },
              { text: 'a-b_' },
              { other: { data: '_-_-' } },
            ],
          },
        ],
      }),
    })
    const recorded = told('a-_b', 'ab-_Yw')
    expect(ask([recorded], told('a+/b', 'ab+/Yw=='))).toMatchObject({ level: 'canonical', classes: ['encoding'] })
    for (const other of [
      told('a+/c', 'ab+/Yw=='),
      told('a+/b', 'ab+/Zw=='),
      { url, body: recorded.body!.replace('-_-_', '+/+/') },
      { url, body: recorded.body!.replace('a-b_', 'a+b/') },
      { url, body: recorded.body!.replace('_-_-', '/+/+') },
    ])
      expect(ask([recorded], other)).toMatchObject({ level: 'reworded', classes: ['messages'] })
  })

  test('is encoding, and not instructions, at another path of its host', () => {
    const live = asked('system_instruction', 'generation_config', 'top_p')
    const answer = ask([asked('systemInstruction', 'generationConfig', 'topP')], {
      ...live,
      url: url.replace('v1beta', 'v1'),
    })
    expect(answer).toMatchObject({ level: 'conversation', classes: ['endpoint', 'encoding'] })
  })

  test('has data of its own: results with other names are other results', () => {
    const data = (name: string): Asked => ({
      url,
      body: JSON.stringify({
        contents: [{ role: 'user', parts: [{ functionResponse: { name: 'f', response: { [name]: 1 } } }] }],
      }),
    })
    expect(ask([data('mimeType')], data('mime_type'))).toMatchObject({ level: 'reworded', classes: ['messages'] })
  })

  test.each(['functionResponse', 'function_response'])('is data where it tells a result, in %s', (name) => {
    const recorded = result(name, 'response')
    const live = result(name, 'response', 'A-17 is the order that comes late.')
    expect(ask([recorded], live)).toMatchObject({ drift: [{ class: 'messages', part: 'result of f', isData: true }] })
  })
})

test.each<[who: string, asked: Json, brought: (text: string) => Json]>([
  [
    'chat completions',
    { role: 'assistant', tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }] },
    (content) => ({ role: 'tool', tool_call_id: 'c', content }),
  ],
  [
    'Anthropic',
    { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'f', input: {} }] },
    (content) => ({ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content }] }),
  ],
  [
    'Ollama, which has no ids',
    { role: 'assistant', tool_calls: [{ function: { name: 'f', arguments: {} } }] },
    (content) => ({ role: 'tool', tool_name: 'f', content }),
  ],
  [
    'the AI SDK',
    { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'c', toolName: 'f', input: {} }] },
    (output) => ({ role: 'tool', content: [{ type: 'tool-result', toolCallId: 'c', output }] }),
  ],
])('another result of a tool is named after the tool, in the words of %s', (_, asked, brought) => {
  const of = (text: string): Asked => ({
    url: 'https://a.test/v1/chat/completions',
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }, asked, brought(text)] }),
  })
  expect(ask([of('It is paid.')], of('It is open, and late.'))).toMatchObject({ drift: [{ part: 'result of f' }] })
})

describe('of the results of several tools in one message', () => {
  const calls = ['find', 'pay', 'mail'].map((name) => ({ type: 'tool_use', id: `call ${name}`, name, input: {} }))
  const told = (name: string, content: string, more: object = {}): object => ({
    type: 'tool_result',
    tool_use_id: `call ${name}`,
    content,
    ...more,
  })
  const of = (...content: readonly object[]): Asked => ({
    url: 'https://api.anthropic.com/v1/messages',
    body: JSON.stringify({
      model: 'm',
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: calls },
        { role: 'user', content },
      ],
    }),
  })
  const recorded = of(told('find', 'A'), told('pay', 'no', { is_error: true }), told('mail', 'sent'))

  test.each<[what: string, live: Asked, part: string]>([
    ['the one that changed', of(told('find', 'A'), told('pay', 'yes'), told('mail', 'sent')), 'result of pay'],
    ['its mark', of(told('find', 'A'), told('pay', 'no'), told('mail', 'sent')), 'result of pay'],
    ['the one that is absent', of(told('find', 'A'), told('pay', 'no', { is_error: true })), 'result of mail'],
    [
      'two that changed',
      of(told('find', 'B'), told('pay', 'no', { is_error: true }), told('mail', 'lost')),
      'results of find, mail',
    ],
    [
      'one, and a text behind them',
      of(told('find', 'B'), told('pay', 'no', { is_error: true }), told('mail', 'sent'), {
        type: 'text',
        text: 'go on',
      }),
      'result of find, user message',
    ],
  ])('the difference names %s', (_, live, part) => {
    expect(ask([recorded], live)).toMatchObject({ drift: [{ class: 'messages', part }] })
  })
})

describe("the mark of Anthropic's beta interface", () => {
  const url = 'https://api.anthropic.com/v1/messages'
  const said = (content: string, more: object = {}): string =>
    JSON.stringify({ model: 'm-1', messages: [{ role: 'user', content }], max_tokens: 9, ...more })
  const plain = { url, body: said('hi') }
  const beta = { url: `${url}?beta=true`, body: said('hi') }

  test.for([
    ['came', plain, beta],
    ['went', beta, plain],
  ] as const)('is another spelling of the address where it %s with another SDK', ([, recorded, live]) => {
    expect(ask([recorded], live)).toMatchObject({ level: 'conversation', classes: ['encoding'] })
    expect(new Asker(tapeOf([recorded]), 'canonical').ask(live).kind).toBe('none')
  })

  test('tells calls apart where a run was recorded with and without it', () => {
    const asker = new Asker(tapeOf([plain, beta]))
    expect([asker.ask(beta).served, asker.ask(beta).kind, asker.ask(plain).served]).toEqual([1, 'none', 0])
  })

  test('is the only thing passed over', () => {
    expect(ask([plain], { url: `${url}?beta=1`, body: plain.body }).kind).toBe('none')
    expect(ask([plain], { url: `${url}?beta=true&page=2`, body: plain.body }).kind).toBe('none')
    expect(ask([plain], { url: `${url}/count_tokens?beta=true`, body: plain.body }).kind).toBe('none')
    expect(ask([{ body: chat('hi') }], { url: `${chatUrl}?beta=true`, body: chat('hi') }).kind).toBe('none')
  })
})

describe('request matching refuses', () => {
  test.for<[string, Asked, Asked]>([
    [
      'a number that differs in its twentieth digit',
      { body: '{"id":12345678901234567890}' },
      { body: '{"id":12345678901234567891}' },
    ],
    [
      'a long number inside a message',
      {
        body: chat('', { messages: [{ role: 'user', content: [{ id: 0 }] }] }).replace(
          '"id":0',
          '"id":12345678901234567890',
        ),
      },
      {
        body: chat('', { messages: [{ role: 'user', content: [{ id: 0 }] }] }).replace(
          '"id":0',
          '"id":12345678901234567891',
        ),
      },
    ],
    [
      'a fraction with more digits than a number holds',
      { body: '{"x":0.1234567890123456789}' },
      { body: '{"x":0.1234567890123456788}' },
    ],
    ['a number no number can hold', { body: '{"x":1e400}' }, { body: '{"x":null}' }],
    ['a key that stands twice', { body: '{"to":"a","to":"b"}' }, { body: '{"to":"b"}' }],
    ['a letter written as two', { body: '{"name":"Ren\u00e9"}' }, { body: '{"name":"Rene\u0301"}' }],
    ['an empty body for none of its letters', { body: '{}' }, { body: '' }],
    ['text that looks like marked bytes', { body: 'base64:/w==' }, { body: 'base64:/w=' }],
    ['another method', { method: 'POST', body: '{}' }, { method: 'PUT', body: '{}' }],
    ['another path', { url: 'https://a.test/v1/x', body: '{}' }, { url: 'https://a.test/v1/y', body: '{}' }],
    ['a stream for a whole answer', { body: chat('hi') }, { body: chat('hi', { stream: true }) }],
    ['a whole answer for a stream', { body: chat('hi', { stream: true }) }, { body: chat('hi') }],
    [
      'the same words in another role',
      { body: chat('hi') },
      { body: chat('', { messages: [{ role: 'assistant', content: 'hi' }] }) },
    ],
    ['another conversation kept by the provider', responses('yes', 'resp_1'), responses('yes', 'resp_2')],
    ['a call without messages', responses('', 'resp_1', []), responses('', 'resp_1', [], { temperature: 0.5 })],
    ['an embedding of another text', embedding('Where is order A-17?'), embedding('Where did order A-17 go?')],
    ['an embedding in another form', embedding('tea'), embedding('tea', { encoding_format: 'base64' })],
    ['a count of tokens for a call', anthropic('messages'), anthropic('messages/count_tokens', { temperature: 1 })],
    ['a Gemini stream for a whole answer', gemini('generateContent'), gemini('streamGenerateContent?alt=sse')],
    ['a Gemini call with another query', gemini('streamGenerateContent?alt=sse'), gemini('streamGenerateContent')],
    ['a whole answer of Ollama for a stream, which is its default', ollama('hi'), ollama('ho', false)],
    ['a Bedrock stream for a whole answer', bedrock('converse'), bedrock('converse-stream')],
    ['an OCI stream for a whole answer', oci(), oci({ isStream: true })],
    ['a Yandex stream for a whole answer', yandex(), yandex({ stream: true })],
  ])('%s', ([, recorded, live]) => {
    expect(ask([recorded], live, { order: 'A-17' }).kind).toBe('none')
    expect(ask([live], recorded, { order: 'A-17' }).kind).toBe('none')
  })

  test('a request that demands what the recorded answer does not do', () => {
    const tools = [{ type: 'function', function: { name: 'refund' } }]
    const said = (message: object): string =>
      JSON.stringify({ choices: [{ message: { role: 'assistant', ...message } }] })
    const call = { id: 'c', type: 'function', function: { name: 'refund', arguments: '{}' } }
    const text = [{ body: chat('hi', { tools }), answer: said({ content: 'Done.' }) }]
    const called = [{ body: chat('hi', { tools }), answer: said({ content: null, tool_calls: [call] }) }]
    const forced = { type: 'function', function: { name: 'refund' } }
    const json = { response_format: { type: 'json_object' } }
    for (const [recorded, demand] of [
      [text, { tool_choice: 'required' }],
      [text, { tool_choice: forced }],
      [text, json],
      [called, { tool_choice: 'none' }],
    ] as const)
      expect(ask(recorded, { body: chat('hi', { tools, ...demand }) })).toMatchObject({ kind: 'contradicted' })
    // What the recorded answer does anyway contradicts nothing: it is another question, and no more.
    for (const [recorded, demand] of [
      [called, { tool_choice: forced }],
      [called, { tool_choice: 'required' }],
      [text, { tool_choice: 'none' }],
      [called, json],
    ] as const)
      expect(ask(recorded, { body: chat('hi', { tools, ...demand }) })).toMatchObject({ classes: ['params'] })
  })

  test('a request to OCI that demands what the recorded answer does not do', () => {
    const said = (message: object): string =>
      JSON.stringify({ chatResponse: { choices: [{ message: { role: 'ASSISTANT', ...message } }] } })
    const text = { ...oci(), answer: said({ content: [{ type: 'TEXT', text: 'Done.' }] }) }
    const call = { id: 'c', type: 'FUNCTION', name: 'refund', arguments: '{}' }
    const called = { ...oci(), answer: said({ toolCalls: [call] }) }
    for (const [recorded, demand] of [
      [text, { toolChoice: { type: 'REQUIRED' } }],
      [text, { toolChoice: { type: 'FUNCTION', name: 'refund' } }],
      [text, { responseFormat: { type: 'JSON_OBJECT' } }],
      [called, { toolChoice: { type: 'NONE' } }],
    ] as const)
      expect(ask([recorded], oci(demand))).toMatchObject({ kind: 'contradicted' })
    expect(ask([text], oci({ temperature: 1 }))).toMatchObject({ classes: ['params'] })
  })

  test('a request to Yandex that demands what the recorded answer does not do', () => {
    const said = (message: object): string => JSON.stringify({ result: { alternatives: [{ message }] } })
    const text = { ...yandex(), answer: said({ text: 'Done.' }) }
    const call = { functionCall: { name: 'refund', arguments: {} } }
    const called = { ...yandex(), answer: said({ toolCallList: { toolCalls: [call] } }) }
    for (const [recorded, demand] of [
      [text, { toolChoice: { mode: 'REQUIRED' } }],
      [text, { toolChoice: { functionName: 'refund' } }],
      [text, { jsonObject: true }],
      [text, { jsonSchema: { schema: {} } }],
      [called, { toolChoice: { mode: 'NONE' } }],
    ] as const)
      expect(ask([recorded], yandex({}, demand))).toMatchObject({ kind: 'contradicted' })
    expect(ask([text], yandex({ temperature: 1 }))).toMatchObject({ classes: ['params'] })
  })

  test.for([
    ['a store of vectors', { tools: [{ type: 'file_search', vector_store_ids: ['vs_1'] }] }, 'vs_1', 'vs_2'],
    ['a server of tools', { tools: [{ type: 'mcp', server_url: 'https://a.test' }] }, 'a.test', 'b.test'],
    ['the headers of one', { tools: [{ type: 'mcp', server_label: 'x', headers: { tenant: 'C-1' } }] }, 'C-1', 'C-2'],
    ['a container', { container: 'cntr_1' }, 'cntr_1', 'cntr_2'],
    ['a file', { attachments: [{ file_id: 'file_1' }] }, 'file_1', 'file_2'],
  ] as const)('%s that holds data of somebody else', ([, more, mine, other]) => {
    const recorded = chat('hi', more)
    expect(ask([{ body: recorded }], { body: recorded.replace(mine, other) }).kind).toBe('none')
  })

  test('an id that a tool of the agent takes is a name of its own, and names no data', () => {
    const tool = (description: string) => ({
      type: 'function',
      function: { name: 'refund', parameters: { properties: { order_id: { description } } } },
    })
    const answer = ask([{ body: chat('hi', { tools: [tool('order')] }) }], {
      body: chat('hi', { tools: [tool('it')] }),
    })
    expect(answer).toMatchObject({ drift: [{ class: 'tools', part: 'tool refund' }] })
  })

  test('tools of one request that changed together are one change, and one that changed alone is a change of its own', () => {
    const tool = (name: string, description: string) => ({ type: 'function', function: { name, description } })
    const tools = (...descriptions: readonly string[]) =>
      chat('hi', { tools: ['pay', 'refund', 'look'].map((name, i) => tool(name, descriptions[i] ?? '')) })
    const change = (now: string) => ask([{ body: tools('a', 'b', 'c') }], { body: now })
    expect(change(tools('a', 'x', 'c'))).toMatchObject({
      drift: [{ path: 'tools[1].function.description', part: 'tool refund', before: tool('refund', 'b') }],
    })
    expect(change(tools('x', 'y', 'c'))).toMatchObject({
      drift: [
        {
          class: 'tools',
          path: 'tools[0].function.description',
          part: 'tools pay, refund',
          before: { pay: tool('pay', 'a'), refund: tool('refund', 'b') },
          now: { pay: tool('pay', 'x'), refund: tool('refund', 'y') },
        },
      ],
    })
    // What is only another space is looked at by itself.
    expect(change(tools('x', 'y', 'c '))).toMatchObject({ drift: [{ class: 'tools' }, { class: 'whitespace' }] })
  })

  test('an answer that calls a tool the agent no longer offers', () => {
    const tool = (name: string) => ({ type: 'function', function: { name } })
    const call = { id: 'c', type: 'function', function: { name: 'refund', arguments: '{}' } }
    const answer = JSON.stringify({
      choices: [{ message: { role: 'assistant', tool_calls: [call] }, finish_reason: 'tool_calls' }],
    })
    const recorded = [{ body: chat('hi', { tools: [tool('refund'), tool('look_up')] }), answer }]
    expect(ask(recorded, { body: chat('hi', { tools: [tool('look_up')] }) })).toMatchObject({
      kind: 'toolGone',
      tool: 'refund',
    })
    expect(ask(recorded, { body: chat('hi') })).toMatchObject({ kind: 'toolGone', tool: 'refund' })
    expect(ask(recorded, { body: chat('hi', { tools: [tool('refund')] }) })).toMatchObject({
      kind: 'found',
      classes: ['tools'],
    })
  })
})

describe('hosts', () => {
  const get = (host: string): Asked => ({ method: 'GET', url: `https://${host}/status` })

  test('a host on the tape answers for itself alone, also when another one has an answer left', () => {
    const asker = new Asker(tapeOf([get('a.test'), get('b.test')]))
    expect([asker.ask(get('b.test')).served, asker.ask(get('b.test')).kind, asker.ask(get('a.test')).served]).toEqual([
      1,
      'none',
      0,
    ])
  })

  test('a host that is not on the tape stands for the one it is, with endpoint drift', () => {
    const asker = new Asker(tapeOf([get('a.test'), get('a.test')]))
    expect(asker.ask(get('localhost:81'))).toMatchObject({ served: 0, classes: ['endpoint'] })
    expect(asker.ask(get('localhost:82')).kind).toBe('none')
    expect(asker.ask(get('localhost:81')).served).toBe(1)
  })

  test.for([
    ['http://localhost:81/status', 'http://127.0.0.1:81/status'],
    ['http://localhost:81/status', 'http://[::1]:81/status'],
    ['https://a.test/status', 'https://a.test.:443/status'],
    ['http://a.test:80/status', 'http://A.test/status'],
  ] as const)('%s is %s', ([one, other]) => {
    const tape = [{ method: 'GET', url: one }]
    expect(ask(tape, { method: 'GET', url: other })).toMatchObject({ served: 0, classes: [] })
    // And answers for nobody else.
    const both = new Asker(tapeOf([...tape, { method: 'GET', url: 'http://b.test:82/status' }]))
    expect(both.ask({ method: 'GET', url: other })).toMatchObject({ served: 0, classes: [] })
    expect(both.ask({ method: 'GET', url: one }).kind).toBe('none')
  })

  test('another port of this machine is another host', () => {
    const at = (port: number): Asked => ({ method: 'GET', url: `http://localhost:${port}/status` })
    const live = { method: 'GET', url: 'http://127.0.0.1:82/status' }
    expect(ask([at(81)], live)).toMatchObject({
      drift: [{ class: 'endpoint', recorded: 'http://localhost:81', live: 'http://127.0.0.1:82' }],
    })
    expect(ask([at(81), at(82)], live)).toMatchObject({ served: 1, classes: [] })
  })

  test('a host that could stand for two is ambiguous', () => {
    expect(ask([get('a.test'), get('b.test')], get('localhost:81')).kind).toBe('ambiguous')
  })

  test('two models asked the same at two addresses are never crossed', () => {
    const at = (host: string, change: object = {}): Asked => ({
      url: `https://${host}/v1/chat/completions`,
      body: chat('hi', { model: host, ...change }),
    })
    const asker = new Asker(tapeOf([at('a.test'), at('b.test')]))
    expect(asker.ask(at('b.test', { temperature: 1 })).served).toBe(1)
    expect(asker.ask(at('b.test', { temperature: 1 })).kind).toBe('none')
  })
})

describe('several conversations', () => {
  test.for([
    [
      'thread',
      'https://api.openai.com/v1/threads/t1/runs',
      { additional_messages: [{ role: 'user', content: 'go on' }] },
      { temperature: 0 },
    ],
    [
      'session',
      'https://bedrock-agent-runtime.eu-west-1.amazonaws.com/agents/A/agentAliases/B/sessions/t1/text',
      { inputText: 'go on' },
      { metadata: {} },
    ],
    ['conversation', 'https://api.mistral.ai/v1/conversations/t1', { inputs: 'go on' }, { tools: [{ type: 'x' }] }],
  ] as const)('the same words in another %s that the provider keeps are another question', ([, url, body, more]) => {
    const recorded = [{ url, body: JSON.stringify(body) }]
    expect(ask(recorded, { url, body: JSON.stringify(body) })).toMatchObject({ level: 'exact' })
    expect(ask(recorded, { url: url.replace('t1', 't2'), body: JSON.stringify(body) }).kind).toBe('none')
    expect(ask(recorded, { url, body: JSON.stringify({ ...body, ...more }) }).kind).toBe('none')
  })

  const sub = (system: string): Asked => ({
    body: chat('', {
      messages: [
        { role: 'system', content: system },
        { role: 'user', content: 'Order A-17' },
      ],
    }),
  })

  test('two agents with the same task and changed instructions get their own answers', () => {
    const asker = new Asker(tapeOf([sub('You are a poet who loves the sea.'), sub('You check contracts for a bank.')]))
    expect(asker.ask(sub('You check contracts for a large bank.')).served).toBe(1)
    expect(asker.ask(sub('You are a poet who hates the sea.')).served).toBe(0)
  })

  test('instructions that fit both about equally are those of the one that is due', () => {
    const asker = new Asker(tapeOf([sub('Answer as agent alpha.'), sub('Answer as agent beta.')]))
    const part = 'system prompt of a call matched by order'
    expect(asker.ask(sub('Answer as agent gamma.'))).toMatchObject({ served: 0, drift: [{ part }] })
    expect(asker.ask(sub('Answer as agent delta.'))).toMatchObject({ served: 1, drift: [{ part: 'system prompt' }] })
  })

  test('one of them asked twice is not answered with what is left of the other', () => {
    const asker = new Asker(tapeOf([sub('You are a poet who loves the sea.'), sub('You check contracts for a bank.')]))
    expect(asker.ask(sub('You check contracts for a large bank.')).served).toBe(1)
    expect(asker.ask(sub('You check contracts for a large bank.')).kind).toBe('none')
  })

  test('two prompts rewritten at once are told by their order, unless their words say otherwise', () => {
    const recording = new Recording()
    recording.exchange({ body: chat('As a poet, praise Greta Holm') })
    recording.exchange({ body: chat('Check whether the contract of Greta Holm is valid') })
    recording.atOnce(2)
    const tape = recording.tape({ input: { name: 'Greta Holm' } })
    const [poet, bank] = ['You are a poet: praise Greta Holm', 'Check if the contract of Greta Holm is a valid one']
    const asker = new Asker(tape)
    expect([poet, bank].map((words) => asker.ask({ body: chat(words) }))).toMatchObject([{ served: 0 }, { served: 1 }])
    expect(new Asker(tape).ask({ body: chat(bank) }).kind).toBe('ambiguous')
  })

  test('prompts rewritten one after the other are told apart by their place and their words', () => {
    const recorded = [
      { body: chat('As a poet, praise Greta Holm') },
      { body: chat('Check whether the contract of Greta Holm is valid') },
    ]
    const asker = new Asker(tapeOf(recorded, { input: { name: 'Greta Holm' } }))
    expect(asker.ask({ body: chat('As a great poet, praise Greta Holm') }).served).toBe(0)
    expect(asker.ask({ body: chat('Check if the contract of Greta Holm is valid') }).served).toBe(1)
  })
})

const word = fc.constantFrom(
  'order',
  'refund',
  'tea',
  'please',
  'check',
  'A-17',
  '25',
  '250',
  'Berlin',
  'not',
  'money',
  'dollars',
  'euros',
  'Holm',
)
const text = fc.array(word, { minLength: 1, maxLength: 8 }).map((words) => words.join(' '))
const message = fc.oneof(
  fc.record({ role: fc.constantFrom('user', 'assistant', 'system'), content: text }),
  fc.record({ role: fc.constant('tool'), tool_call_id: fc.constantFrom('call_1', 'call_2'), content: text }),
)
type Message = { readonly role: string; readonly content: string; readonly tool_call_id?: string }
const conversation = fc.array(message, { minLength: 1, maxLength: 5 }) as fc.Arbitrary<readonly Message[]>
const body = (messages: readonly Message[]): string => JSON.stringify({ model: 'm-1', messages })

/** Small changes of the kinds that make another question out of one. */
const mutations: Readonly<Record<string, (messages: readonly Message[], at: number) => readonly Message[]>> = {
  'one digit': (all, at) =>
    edit(all, at, (content) => content.replace(/\d/, (digit) => String((Number(digit) + 1) % 10))),
  'a word of the same length': (all, at) =>
    edit(all, at, (content) => content.replace('money', 'maney').replace('check', 'cheap')),
  'a longer last word': (all, at) => edit(all, at, (content) => `${content}3`),
  'another order': (all, at) => all.map((_, i) => all[(i + at + 1) % all.length]!),
  'swapped ids': (all) =>
    all.map((one) =>
      one.tool_call_id ? { ...one, tool_call_id: one.tool_call_id === 'call_1' ? 'call_2' : 'call_1' } : one,
    ),
  'a message dropped': (all, at) => all.filter((_, i) => i !== at % all.length),
  'a message twice': (all, at) => all.flatMap((one, i) => (i === at % all.length ? [one, one] : [one])),
  'another role': (all, at) =>
    all.map((one, i) => (i === at % all.length ? { ...one, role: one.role === 'user' ? 'assistant' : 'user' } : one)),
  'another tool result': (all) =>
    all.map((one) => (one.role === 'tool' ? { ...one, content: `${one.content} failed` } : one)),
  'another currency': (all, at) => edit(all, at, (content) => content.replace('dollars', 'euros')),
  'less context': (all, at) => edit(all, at, (content) => content.slice(0, Math.ceil(content.length / 2))),
}

function edit(all: readonly Message[], at: number, change: (content: string) => string): readonly Message[] {
  return all.map((one, i) => (i === at % all.length ? { ...one, content: change(one.content) } : one))
}

function speakersOf(messages: readonly Message[]): string {
  return messages.map(({ role }) => role).join()
}

/** The conversation without what may drift: instructions. */
function heard(messages: readonly Message[]): string {
  return JSON.stringify(messages.filter(({ role }) => role !== 'system'))
}

describe('never wrong', () => {
  test('for every tape, each unchanged request is served its own answer, in any order', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(conversation, { selector: body, minLength: 1, maxLength: 6 }),
        fc.nat(),
        (all, turn) => {
          const asker = new Asker(
            tapeOf(
              all.map((messages) => ({ body: body(messages) })),
              { input: { order: 'A-17', name: 'Holm' } },
            ),
          )
          const order = all.map((_, i) => (i + turn) % all.length)
          for (const i of order)
            expect(asker.ask({ body: body(all[i]!) })).toMatchObject({ served: i, level: 'exact', drift: [] })
        },
      ),
      { numRuns: 300 },
    )
  })

  test('for every small change, the request is refused, or what changed is drift that nobody takes for the same question', () => {
    const kinds = fc.constantFrom(...Object.keys(mutations))
    const met: Record<string, number> = {}
    const speakers = (messages: readonly Message[]) =>
      messages.map(({ role }) => role).filter((role) => role !== 'system')
    fc.assert(
      fc.property(conversation, conversation, kinds, fc.nat(10), (messages, other, kind, at) => {
        const live = mutations[kind]!(messages, at)
        fc.pre(
          live.length > 0 &&
            body(live) !== body(messages) &&
            body(live) !== body(other) &&
            body(messages) !== body(other),
        )
        const asker = new Asker(
          tapeOf([{ body: body(messages) }, { body: body(other) }], { input: { order: 'A-17', name: 'Holm' } }),
        )
        const answer = asker.ask({ body: body(live) })
        met[kind] = (met[kind] ?? 0) + 1
        if (answer.kind !== 'found') return
        const served = answer.served === 0 ? messages : other
        expect(answer.classes?.length).toBeGreaterThan(0)
        for (const name of answer.classes ?? []) expect(['instructions', 'messages']).toContain(name)
        expect(speakers(served)).toEqual(speakers(live))
      }),
      { numRuns: often(600) },
    )
    for (const kind of Object.keys(mutations)) expect(met[kind], kind).toBeGreaterThan(0)
  })

  test('for every two conversations held at once, both with changed prompts, neither gets the answer of the other, and never one in another order or of other speakers without drift', () => {
    const change = fc.constantFrom(...Object.keys(mutations))
    fc.assert(
      fc.property(conversation, conversation, change, fc.nat(10), fc.boolean(), (left, right, kind, at, swapped) => {
        const both = [left, right].map((messages) => mutations[kind]!(messages, at))
        fc.pre(heard(left) !== heard(right) && both.every((messages) => messages.length > 0))
        const recording = new Recording()
        for (const messages of [left, right]) recording.exchange({ body: body(messages) })
        recording.atOnce(2)
        const asker = new Asker(recording.tape({ input: { order: 'A-17', name: 'Holm' } }))
        for (const i of swapped ? [1, 0] : [0, 1]) {
          const answer = asker.ask({ body: body(both[i]!) })
          if (answer.kind !== 'found' || answer.served === i) continue
          if (swapped || speakersOf(both[0]!) !== speakersOf(left) || speakersOf(both[1]!) !== speakersOf(right)) {
            const classes = answer.classes ?? []
            expect(classes.some((name) => ['instructions', 'messages', 'whitespace'].includes(name))).toBe(true)
            continue
          }
          // The change made this conversation the other one: then its answer is right.
          expect(heard(both[i]!)).toBe(heard(i === 0 ? right : left))
        }
      }),
      { numRuns: often(400) },
    )
  })

  test('for every place that a prompt moves to beside any other change, the place is a difference with a key of its own', () => {
    const system = fc.record({ role: fc.constant('system'), content: text })
    const said = fc.array(fc.record({ role: fc.constantFrom('user', 'assistant'), content: text }), { minLength: 1 })
    const places = fc.tuple(fc.nat(4), fc.nat(4), fc.nat(4))
    const others = fc.constantFrom<(body: Json) => Json>(
      (body) => body,
      (body) => ({ ...(body as object), user: 'u2' }),
      (body) => ({ ...(body as object), seed: 1 }),
      (body) => JSON.parse(JSON.stringify(body).replace('"content":"', '"content":"Now ')) as Json,
    )
    const keyOf = (drift: Parameters<Changes['drift']>[1]): string =>
      new Changes('desk').drift({ n: 1, number: 1 }, drift, 'unproven', undefined).key
    fc.assert(
      fc.property(system, said, places, others, (prompt, turns, [before, ...moved], change) => {
        const asked = (place: number) => ({
          model: 'm-1',
          messages: [...turns.slice(0, place), prompt, ...turns.slice(place)],
        })
        const at = (place: number): number => Math.min(place, turns.length)
        const keys = moved.map((now) => {
          const answer = ask([{ body: JSON.stringify(asked(before)) }], { body: JSON.stringify(change(asked(now))) })
          const drift = answer.kind === 'found' ? answer.drift : []
          const [found] = drift.filter(({ part }) => part === 'place of the system prompt')
          expect(found !== undefined).toBe(at(now) !== at(before))
          return found && keyOf(found)
        })
        const isOnePlace = at(moved[0]) === at(moved[1])
        expect(keys[0] === keys[1]).toBe(isOnePlace || keys.every((key) => key === undefined))
      }),
      { numRuns: often(300) },
    )
  })

  const prompt = { role: 'system', content: 'Never refund more than 100 EUR.' }
  const question = { role: 'user', content: 'Refund me 1000 EUR.' }
  const moved = (field: string, rest: object, [one, two] = [prompt, question]) =>
    [
      { ...rest, [field]: [one, two] },
      { ...rest, [field]: [two, one] },
    ] as const
  test.for<readonly [string, string, readonly [object, object], string]>([
    ['chat', '/v1/chat/completions', moved('messages', { model: 'm-1' }), 'place of the system prompt'],
    ['responses', '/v1/responses', moved('input', { model: 'm-1' }), 'place of the system prompt'],
    ['anthropic', '/v1/messages', moved('messages', { model: 'm-1', max_tokens: 9 }), 'place of the system prompt'],
    ['cohere', '/v2/chat', moved('messages', { model: 'm-1' }), 'place of the system prompt'],
    [
      'a field that stands under another name',
      '/v1/completions',
      [{ prompt: 'hi' }, { input: 'hi', prompt: [] }],
      'form',
    ],
    [
      'a tool that stands under another name',
      '/v1/chat/completions',
      [
        { model: 'm-1', messages: [question], tools: [{ name: 'pay' }] },
        { model: 'm-1', messages: [question], functions: [{ name: 'pay' }] },
      ],
      'form',
    ],
    [
      'a setting that is absent and not null',
      '/v1/chat/completions',
      [
        { model: 'm-1', messages: [question], seedling: null },
        { model: 'm-1', messages: [question] },
      ],
      'seedling',
    ],
    [
      'what no reader takes',
      '/v1/realtime',
      [
        { type: 'response.create', response: { instructions: 'Be short.', tools: 'none' } },
        { type: 'response.create', response: { instructions: 'Be short.', tools: 'all' } },
      ],
      'form',
    ],
  ])('what no part covers is reported alone and beside a changed setting: %s', ([, path, [before, now], part]) => {
    const isSocket = path === '/v1/realtime'
    const url = `${isSocket ? 'wss' : 'https'}://models.test${path}`
    const bodyOf = (body: object): Asked => ({ url, body: JSON.stringify(body), ...(isSocket && { method: 'SEND' }) })
    for (const beside of [{}, { seed: 3 }, { user: 'u2' }]) {
      const answer = ask([bodyOf(before)], bodyOf({ ...now, ...beside }))
      expect(answer).toMatchObject({ kind: 'found' })
      expect(answer.kind === 'found' && answer.drift.map((one) => one.part)).toContain(part)
    }
  })

  test('a form whose fields change places has a difference of its own beside a changed field, and a key for each order', () => {
    const form = (...fields: readonly (readonly [name: string, value: string])[]): Asked => ({
      url: 'https://api.openai.com/v1/images/edits',
      body: [
        ...fields.map(([name, value]) => `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`),
        '--b--\r\n',
      ].join(''),
    })
    const [prompt, size, wide, n] = [
      ['prompt', 'A cat'],
      ['size', 'small'],
      ['size', 'wide'],
      ['n', '2'],
    ] as const
    const [plain, ...moved] = [
      [prompt, wide, n],
      [prompt, n, wide],
      [n, wide, prompt],
    ].map((fields) => {
      const answer = ask([form(prompt, size, n)], form(...fields))
      return answer.kind === 'found' ? answer.drift : []
    })
    const parts = (drift: readonly FoundDrift[] = []) => drift.map(({ part }) => part)
    expect([plain, ...moved].map(parts)).toEqual([['size'], ['size', 'form'], ['size', 'form']])
    expect(JSON.stringify(moved[0]?.[1]?.now)).not.toBe(JSON.stringify(moved[1]?.[1]?.now))
  })

  test('for every JSON value, no other value has its answer', () => {
    const json = fc.json({ maxDepth: 3 })
    const url = 'https://shop.test/rpc'
    fc.assert(
      fc.property(json, json, (recorded, live) => {
        const answer = ask([{ url, body: recorded }], { url, body: live })
        const isSame = JSON.stringify(sorted(JSON.parse(recorded))) === JSON.stringify(sorted(JSON.parse(live)))
        expect(answer.kind).toBe(isSame ? 'found' : 'none')
      }),
      { numRuns: 500 },
    )
  })
})

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return [
    'a map of',
    ...Object.entries(value)
      .map(([key, member]) => [key, sorted(member)])
      .sort(),
  ]
}

function responses(
  user: string,
  previous: string,
  input: readonly unknown[] = [{ role: 'user', content: user }],
  more: object = {},
): Asked {
  const url = 'https://api.openai.com/v1/responses'
  return { url, body: JSON.stringify({ model: 'm-1', input, previous_response_id: previous, ...more }) }
}

function embedding(input: string, more: object = {}): Asked {
  return { url: 'https://api.openai.com/v1/embeddings', body: JSON.stringify({ model: 'e-1', input, ...more }) }
}

function anthropic(path: string, more: object = {}): Asked {
  const messages = [{ role: 'user', content: 'hi' }]
  return { url: `https://api.anthropic.com/v1/${path}`, body: JSON.stringify({ model: 'c-1', messages, ...more }) }
}

function gemini(method: string): Asked {
  const contents = [{ role: 'user', parts: [{ text: 'hi' }] }]
  return { url: `https://g.test/v1beta/models/g-1:${method}`, body: JSON.stringify({ contents }) }
}

/** Without a word about its form it is a stream. */
function ollama(content: string, stream?: boolean): Asked {
  const body = { model: 'm-1', messages: [{ role: 'user', content }], ...(stream === undefined ? {} : { stream }) }
  return { url: 'https://o.test/api/chat', body: JSON.stringify(body) }
}

function oci(params = {}): Asked {
  const messages = [{ role: 'USER', content: [{ type: 'TEXT', text: 'hi' }] }]
  const servingMode = { servingType: 'ON_DEMAND', modelId: 'm' }
  const chatRequest = { apiFormat: 'GENERIC', messages, ...params }
  return { url: 'https://o.test/20231130/actions/chat', body: JSON.stringify({ servingMode, chatRequest }) }
}

function yandex(completionOptions = {}, more = {}): Asked {
  const messages = [{ role: 'user', text: 'hi' }]
  const body = { modelUri: 'gpt://folder/m', completionOptions, messages, ...more }
  return { url: 'https://y.test/foundationModels/v1/completion', body: JSON.stringify(body) }
}

function bedrock(method: string): Asked {
  const messages = [{ role: 'user', content: [{ text: 'hi' }] }]
  return { url: `https://b.test/model/a.b-1%3A0/${method}`, body: JSON.stringify({ messages }) }
}

describe('for every recorded request: any single change of it', () => {
  const tapes = ['recordings/golden/refund/refund-broken-item.tape.jsonl', 'test/history/v1.tape.jsonl'].map(
    (file) => [file, readTape(file)] as const,
  )
  /** OpenAI's client hands back what an answer did not have as null; the id of a JSON-RPC request is a counter. */
  const spelled = /^messages\.\d+\.(refusal|audio|content|function_call|parsed) removed$|^id = /

  test.for(tapes)('is drift or a refusal, and never the same question: %s', ([, tape]) => {
    let changes = 0
    for (const [at, { event }] of stepStates(tape).filter(isExchange).entries()) {
      const body = jsonOf(event)
      for (const [name, changed] of body === undefined ? [] : changesOf(body)) {
        changes++
        const steps = stepStates(tape).filter(isExchange)
        for (const earlier of steps.slice(0, at)) earlier.taken = true
        const matcher = new Matcher(steps, 'reworded', tape.header, () => true)
        const { via, method, url, request } = event
        const question = { via, method, url, bodyText: JSON.stringify(changed), target: targetOf(request.headers) }
        const answer = matcher.find(question)
        const isSame =
          answer.kind === 'found' &&
          answer.step.event.n === event.n &&
          answer.drift.every((found) => found.class === 'encoding')
        if (isSame) expect(name).toMatch(spelled)
      }
    }
    expect(changes).toBeGreaterThan(0)
  })
})

function isExchange(step: ReturnType<typeof stepStates>[number]): step is ExchangeState {
  return step.event.kind === 'exchange'
}

function jsonOf(event: ExchangeState['event']): Json | undefined {
  const text = requestBytes(event).toString('utf8')
  return text.startsWith('{') ? (JSON.parse(text) as Json) : undefined
}

/** Each leaf changed and left out, each list turned round, one at a time. */
function changesOf(
  value: Json,
  rebuild = (inner: Json): Json => inner,
  path = '',
): readonly (readonly [string, Json])[] {
  if (typeof value !== 'object' || value === null) {
    const others: readonly Json[] =
      typeof value === 'string'
        ? [`${value} not`, ` ${value}`, value.toUpperCase()]
        : typeof value === 'number'
          ? [value + 1]
          : ['x']
    return others
      .filter((other) => other !== value)
      .map((other) => [`${path} = ${JSON.stringify(other)}`, rebuild(other)])
  }
  const entries = Object.entries(value as { readonly [key: string]: Json })
  const isList = Array.isArray(value)
  const made = (kept: readonly (readonly [string, Json])[]): Json =>
    isList ? kept.map(([, item]) => item) : Object.fromEntries(kept)
  const turned = entries.toReversed()
  return [
    ...(isList && JSON.stringify(made(turned)) !== JSON.stringify(value)
      ? [[`${path} turned`, rebuild(made(turned))] as const]
      : []),
    ...entries.flatMap(([key, item], i) => {
      const inner = path === '' ? key : `${path}.${key}`
      return [
        [`${inner} removed`, rebuild(made(entries.toSpliced(i, 1)))] as const,
        ...changesOf(item, (other) => rebuild(made(entries.with(i, [key, other]))), inner),
      ]
    }),
  ]
}

describe('over a connection to a model', () => {
  const url = 'wss://api.openai.com/v1/realtime?model=gpt-realtime'
  const say = (message: Json): Asked => ({ method: 'SEND', url, body: JSON.stringify(message) })
  const short = { type: 'response.create', response: { instructions: 'Be short.' } }
  const bare = { type: 'response.create' }

  test.for<[string, Json]>([
    ['an empty answer', { type: 'response.create', response: {} }],
    ['the later message', bare],
  ])('a message changed to %s stands for the one whose turn it is', ([, changed]) => {
    const asker = new Asker(tapeOf([say(short), say(bare)]))
    expect(asker.ask(say(changed))).toMatchObject({
      served: 0,
      drift: [{ class: 'instructions', before: ['Be short.'], now: undefined }],
    })
    expect(asker.ask(say(bare))).toMatchObject({ served: 1, level: 'exact' })
  })

  test('a message of the Responses API that says its kind alone is a question', () => {
    const request = { method: 'SEND', url: 'wss://api.openai.com/v1/responses', body: JSON.stringify(bare) }
    expect(readModelRequest(request)).toMatchObject({ dialect: 'openai-responses', params: bare })
  })
})
