import type { Redactor } from '../privacy/index.ts'
import { type Json, type MarkEvent, type Moment, type TapeEvent } from '../tape/index.ts'
import { type Accounts, accountFor } from './tool-call-links.ts'
import { type SpanBoundary, boundariesOf } from './boundaries.ts'
import { type CallDraft, OpenCalls } from './open-calls.ts'
import { type ImportedToolResult, readMessages, type ConversationMessage } from './messages.ts'
import { errorOf, onTape } from './tape-value.ts'
import type { ForeignCall, ForeignMark, ForeignMessage, ForeignModelCall, ForeignStep } from './types.ts'

/** Events of steps, and what was seen on the way to them. */
export interface StepEvents {
  readonly events: readonly TapeEvent[]
  /** The next free number, and the time of the last moment. */
  readonly end: Moment
}

/**
 * Makes events of what a trace or a transcript tells, redacted in the order of the moments.
 *
 * A model call becomes a mark named `model`, each message of its conversation one message event, written once however often
 * it is sent again. Calls it asked for that no tool step accounts for become tool events; they get an answer when a later
 * message brings one, and have none otherwise.
 */
export function eventsOfSteps(steps: readonly ForeignStep[], redactor: Redactor): StepEvents {
  const making = new StepMaking(steps, redactor)
  for (const boundary of boundariesOf(steps)) making.add(boundary)
  return making.made
}

class StepMaking {
  readonly #redactor: Redactor
  readonly #accounts: Accounts
  readonly #events: TapeEvent[] = []
  readonly #calls = new Map<ForeignCall, CallDraft>()
  readonly #byId = new Map<string, number>()
  readonly #marks = new Map<ForeignModelCall, number>()
  readonly #open = new OpenCalls()
  readonly #told = new Map<string, number>()
  readonly #results = new Set<string>()
  #n = 0
  #at = 0

  constructor(steps: readonly ForeignStep[], redactor: Redactor) {
    this.#redactor = redactor
    this.#accounts = accountFor(steps)
  }

  get made(): StepEvents {
    return { events: this.#events, end: [this.#n, this.#at] }
  }

  add({ step, what, at }: SpanBoundary): void {
    this.#at = at
    switch (step.kind) {
      case 'message':
        if (what === 'begins') this.#tellMessage(step)
        return
      case 'mark':
        if (what === 'begins') this.#note(step)
        return
      case 'model':
        return what === 'begins' ? this.#ask(step) : this.#answer(step)
      case 'tool':
      case 'retrieval':
        return what === 'begins' ? this.#issue(step) : this.#settle(step)
    }
  }

  #tellMessage({ from, to, body }: ForeignMessage): void {
    if (from === 'user' || from === 'system')
      this.#isNews({ role: from, text: typeof body === 'string' ? body : '', body })
    this.#message(from, to, body, undefined)
  }

  #note({ name, data }: ForeignMark): void {
    const [n, at] = this.#moment()
    this.#events.push({ kind: 'mark', n, at, name: this.#redactor.name(name), data: this.#encoded(data) })
  }

  #ask(step: ForeignModelCall): void {
    const inside = this.#inside(step)
    const counts = new Map<string, number>()
    for (const said of readMessages(step.messages)) {
      for (const result of said.results) this.#bring(result, said, inside)
      if (said.results.length > 0 && said.text === '') continue
      const told = this.#untold(said)
      if (told === undefined || !this.#isNews(told, counts)) continue
      if (told.role === 'assistant') this.#message('model', 'user', told.body, inside)
      else this.#message(told.role, 'model', told.body, inside)
    }
    const { asked, answered, provider, finish, usage, error, tookMs: took } = step
    const data = present({ asked, answered, provider, finish, usage, error, took })
    const [n, at] = this.#moment()
    const mark: MarkEvent = { kind: 'mark', n, at, ...inside, name: 'model', data: this.#encoded(data) }
    this.#marks.set(step, n)
    this.#events.push(mark)
  }

  #answer(step: ForeignModelCall): void {
    const inside = this.#inside(step)
    const { text = '' } = step
    const isNews = this.#isNews({ role: 'assistant', text, body: text })
    // A transcript tells each message once: there the same words were said again.
    if (text !== '' && (isNews || step.messages === undefined)) this.#message('model', 'user', text, inside)
    for (const call of this.#accounts.open.get(step) ?? []) {
      const [n, at] = this.#moment()
      const asked = this.#marks.get(step)
      const event: CallDraft = {
        kind: 'tool',
        n,
        at,
        ...inside,
        ...(asked === undefined ? {} : { asked }),
        name: this.#redactor.text(call.name),
        args: this.#encoded(call.args ?? {}),
      }
      this.#events.push(event)
      this.#open.add(call, event)
    }
  }

  #issue(step: ForeignCall): void {
    const { kind, name, args, id } = step
    const by = this.#accounts.askedBy.get(step)
    const asked = by === undefined ? undefined : this.#marks.get(by)
    const [n, at] = this.#moment()
    const event: CallDraft = {
      kind,
      n,
      at,
      ...this.#inside(step),
      ...(asked === undefined ? {} : { asked }),
      name: this.#redactor.name(name),
      args: this.#encoded(args ?? {}),
    }
    if (id !== undefined && !this.#byId.has(id)) this.#byId.set(id, n)
    this.#calls.set(step, event)
    this.#events.push(event)
  }

  #settle(step: ForeignCall): void {
    const event = this.#calls.get(step)!
    const { result, error, thrown, tookMs } = step
    if (result === undefined && error === undefined && tookMs === undefined) return
    if (result !== undefined) event.result = this.#encoded(result)
    if (error !== undefined) event.error = this.#redactor.json(onTape(thrown ?? errorOf(error)))
    event.settled = this.#moment()
  }

  /** The answer of a tool that a message brings: of a call that only a model named, or one whose step left it out. */
  #bring(result: ImportedToolResult, said: ConversationMessage, inside: Inside): void {
    const { id, name, value } = result
    const key = id ?? JSON.stringify([name, value])
    if (this.#results.has(key)) return
    this.#results.add(key)
    const step = id === undefined ? undefined : this.#accounts.byId.get(id)
    const ran = step === undefined ? undefined : this.#calls.get(step)
    if (ran !== undefined) {
      if (ran.result === undefined && ran.error === undefined) ran.result = this.#encoded(value)
      ran.settled ??= this.#moment()
      return
    }
    const found = this.#open.find(result)
    if (found === undefined) {
      this.#message('tool', 'model', said.body, inside)
      return
    }
    found.result = this.#encoded(value)
    found.settled = this.#moment()
  }

  /** A message without the calls that are known to have been asked for; `undefined` when nothing is left of it. */
  #untold(said: ConversationMessage): Pick<ConversationMessage, 'role' | 'text' | 'body'> | undefined {
    if (said.calls.length === 0 || !said.calls.every((call) => this.#accounts.isAsked(call))) return said
    return said.text === '' ? undefined : { role: said.role, text: said.text, body: said.text }
  }

  /** Whether a message is new. The same words twice in one conversation are two messages. */
  #isNews(
    { role, text, body }: Pick<ConversationMessage, 'role' | 'text' | 'body'>,
    counts = new Map<string, number>(),
  ): boolean {
    const key = `${role} ${text === '' ? JSON.stringify(body) : text.trim()}`
    const count = (counts.get(key) ?? 0) + 1
    counts.set(key, count)
    if (count <= (this.#told.get(key) ?? 0)) return false
    this.#told.set(key, count)
    return true
  }

  #message(from: string, to: string, body: unknown, inside: Inside): void {
    const [n, at] = this.#moment()
    this.#events.push({
      kind: 'message',
      n,
      at,
      ...inside,
      from: this.#redactor.text(from),
      to,
      body: this.#encoded(body),
    })
  }

  #inside({ parent }: { readonly parent?: string }): Inside {
    const n = parent === undefined ? undefined : this.#byId.get(parent)
    return n === undefined ? undefined : { in: n }
  }

  #encoded(value: unknown): Json {
    return this.#redactor.json(onTape(value))
  }

  #moment(): Moment {
    return [this.#n++, this.#at]
  }
}

type Inside = { readonly in: number } | undefined

/** The members that are there. */
function present(fields: { readonly [key: string]: unknown }): { readonly [key: string]: unknown } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}
