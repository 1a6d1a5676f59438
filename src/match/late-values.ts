import { isDistinctive, isDistinctivePhrase } from '../privacy/known.ts'
import type { Prints, Redactor } from '../privacy/index.ts'
import type { Json } from '../tape/index.ts'
import { steadyPath } from './address.ts'
import type { MatchRequest } from './matcher.ts'
import type { ExchangeState, StepState } from './step.ts'

/** A placeholder of a value that was named when it stood on the tape already; see `lateFrom`. */
const latePlaceholder = /redacted-[a-z-]{1,40}-[12]\d{6}(?!\d)/g

/** Whether a text is one and nothing else. */
export function isLatePlaceholder(text: string): boolean {
  return text.replace(latePlaceholder, '') === '' && text !== ''
}

/**
 * Values that the agent brings itself and the tape has late placeholders for: no name before them says that they are secret. They are
 * recognised by their place: where all else of a text is as recorded, what stands in the place of the placeholder is the value.
 */
export class LateValues {
  readonly #redactor: Redactor
  readonly #prints: Prints | undefined
  /** By placeholder. */
  readonly #recorded: ReadonlyMap<string, string>
  readonly #known = new Set<string>()

  constructor(redactor: Redactor, prints: Prints | undefined, recorded: ReadonlyMap<string, string>) {
    this.#redactor = redactor
    this.#prints = prints
    this.#recorded = recorded
  }

  /**
   * Takes note of the values in a text that the agent brought.
   *
   * @param recorded - the texts in whose place it may stand
   * @returns whether there are some: then it is to be redacted once more
   */
  learn(live: string, recorded: Iterable<string>): boolean {
    let first: ReadonlyMap<string, string> | undefined
    for (const text of recorded) {
      if (text === live) return false
      const found = this.#valuesIn(text, live)
      if (found === undefined) continue
      first ??= found
      if (![...found].every((pair) => this.#isRecorded(pair))) continue
      first = found
      break
    }
    for (const [placeholder, value] of first ?? []) {
      this.#known.add(placeholder)
      this.#redactor.learn(placeholder, unescaped(value))
    }
    return first !== undefined
  }

  /** A redacted value, redacted once more where something in it was learned. @param recorded - values in whose place it may stand */
  redacted(live: Json, recorded: Iterable<Json>): Json {
    const texts = Array.from(recorded, (one) => JSON.stringify(one))
    return this.learn(JSON.stringify(live), texts) ? this.#redactor.json(live) : live
  }

  /** As {@link learn}, of a request that is asked of these steps. Which host it goes to is compared for itself. */
  learnAsked({ method, url, bodyText }: MatchRequest, steps: readonly StepState[]): boolean {
    const text = (address: string, body: string): string => `${steadyPath({ method, url: address })}\n${body}`
    const open = steps.flatMap((step) =>
      !step.taken && step.event.kind === 'exchange' && step.event.method === method
        ? [text(step.event.url, (step as ExchangeState).bodyText)]
        : [],
    )
    return this.learn(text(url, bodyText), open)
  }

  #isRecorded([placeholder, value]: readonly [string, string]): boolean {
    const [kind] = /[a-z-]+(?=-\d+$)/.exec(placeholder.slice('redacted-'.length)) ?? ['']
    return this.#prints?.of(kind, unescaped(value)) === this.#recorded.get(placeholder)
  }

  /** By placeholder, what stands in its place; `undefined` where all else is not as recorded, or there is no placeholder. */
  #valuesIn(recorded: string, live: string): ReadonlyMap<string, string> | undefined {
    const places = [...recorded.matchAll(latePlaceholder)].filter(([placeholder]) => !this.#known.has(placeholder))
    const found = new Map<string, string>()
    let [from, at] = [0, 0]
    for (const [nth, { 0: placeholder, index }] of places.entries()) {
      const before = recorded.slice(from, index)
      if (!live.startsWith(before, at)) return undefined
      at += before.length
      from = index + placeholder.length
      const same = [placeholder, found.get(placeholder)].find((text) => text !== undefined && live.startsWith(text, at))
      if (same === undefined) {
        const next = places[nth + 1]?.index
        const behind = recorded.slice(from, next)
        const end = next === undefined ? live.length - behind.length : live.indexOf(behind, at)
        const value = end < at ? '' : live.slice(at, end)
        if (found.has(placeholder) || !isValue(value)) return undefined
        found.set(placeholder, value)
        at = end
      } else at += same.length
    }
    return found.size > 0 && live.slice(at) === recorded.slice(from) ? found : undefined
  }
}

/** In an address it is spelled with escapes. */
function unescaped(text: string): string {
  if (!text.includes('%')) return text
  try {
    const plain = decodeURIComponent(text)
    return encodeURIComponent(plain) === text ? plain : text
  } catch {
    // A percent sign that begins no escape is one.
    return text
  }
}

/** Nothing that goes beyond the text, the parameter or the word in which it stands. */
function isValue(text: string): boolean {
  return (isDistinctive(text) || isDistinctivePhrase(text)) && !/[\s"'\\&?#]/.test(text)
}
