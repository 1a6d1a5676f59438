import { randomBytes } from 'node:crypto'
import {
  Prints,
  type PrintKey,
  printKeys,
  printVariable,
  type Redactor,
  redactorOfTape,
  type Replaced,
} from '../privacy/index.ts'
import { type Json, namedLateFlag, type Tape } from '../tape/index.ts'
import { LateValues } from './late-values.ts'
import type { FoundDrift } from './matcher.ts'

/**
 * What could not be compared with the tape: a value the agent brought in itself, in the place of one the tape has a placeholder for, or
 * a part that no tape holds (`hidden part`).
 */
export interface NotCompared {
  readonly kind: string
  readonly placeholder: string
  /** `n` of the recorded event it was brought to; absent: to none. */
  readonly step?: number
  /** 1-based, for people. */
  readonly stepNumber?: number
  /** Where it stands, such as `body.to`, `args.to` or `outcome`. */
  readonly path: string
  /** Why not. */
  readonly why: string
}

/** Texts in which a value the agent brought may stand, by the path they begin with. */
export type Places = Readonly<Record<string, Json>>

/**
 * Compares redacted values by their keyed fingerprints. Without them another address in the same place looks the same, for
 * placeholders are numbered by first appearance. Constants of the source need no key: they are given as they are.
 */
export class RedactedValues {
  /** Fingerprints of the values on the tape, by placeholder. */
  readonly #recorded: ReadonlyMap<string, string>
  readonly #key: PrintKey | undefined
  readonly #printed: Tape['header']['printed']
  readonly #prints: Prints | undefined

  /**
   * @param constants - values behind placeholders of the tape
   * @throws HarvestError `HARVEST_PRIVACY_OPTION` for a key that cannot be one
   */
  constructor(tape: Tape, constants: Readonly<Record<string, string>> = {}) {
    const { header, events, close } = tape
    const { printed } = header
    this.#printed = printed
    this.#key = printKeys().find(({ id }) => id === printed?.key)
    if (this.#key !== undefined && printed !== undefined) {
      this.#prints = new Prints(this.#key, printed.salt)
      this.#recorded = new Map([header, ...events, ...(close ? [close] : [])].flatMap(({ prints = [] }) => prints))
      return
    }
    const known = Object.entries(constants)
    // A key for this replay alone: with it a constant and what the agent brings are compared as fingerprints are.
    if (known.length > 0) this.#prints = new Prints({ id: '', secret: randomBytes(32).toString('base64') }, '')
    this.#recorded = new Map(known.flatMap(([placeholder, value]) => this.#printOf(tape, placeholder, value)))
  }

  #printOf(tape: Tape, placeholder: string, value: string): readonly (readonly [string, string])[] {
    const redactor = redactorOfTape(tape, this.#prints === undefined ? {} : { prints: this.#prints })
    redactor.text(value)
    return redactor.takeReplaced().flatMap(({ print }) => (print === undefined ? [] : [[placeholder, print] as const]))
  }

  /** For the redactor of live requests. */
  get numbering(): { readonly prints?: Prints; readonly recorded?: ReadonlyMap<string, string> } {
    if (this.#prints === undefined) return {}
    const recorded = new Map([...this.#recorded].map(([placeholder, print]) => [print, placeholder]))
    return { prints: this.#prints, recorded }
  }

  /** What recognises the values that the agent brings and that were named late; `undefined` of a tape without. */
  lateValues({ header }: Pick<Tape, 'header'>, redactor: Redactor): LateValues | undefined {
    return header.flags.includes(namedLateFlag) ? new LateValues(redactor, this.#prints, this.#recorded) : undefined
  }

  /** What there is to say about values that just became placeholders. */
  compare(
    replaced: readonly Replaced[],
    places: Places,
  ): { readonly drift: readonly FoundDrift[]; readonly notCompared: readonly NotCompared[] } {
    const drift: FoundDrift[] = []
    const notCompared: NotCompared[] = []
    for (const { kind, placeholder, print } of replaced) {
      const recorded = this.#recorded.get(placeholder)
      if (print !== undefined && print === recorded) continue
      const path = placeIn(places, placeholder)
      if (print === undefined || recorded === undefined)
        notCompared.push({ kind, placeholder, path, why: this.#whyNot(recorded) })
      else drift.push({ class: 'redacted', path, recorded: placeholder, live: `another ${kind}`, id: print })
    }
    return { drift, notCompared }
  }

  #whyNot(recorded: string | undefined): string {
    if (this.#printed === undefined) return `recorded without ${printVariable}`
    if (this.#key === undefined) return `no ${printVariable} with the id ${this.#printed.key} here`
    return recorded === undefined ? 'the tape has no fingerprint of it' : 'it has no fingerprint'
  }
}

function placeIn(places: Places, placeholder: string): string {
  for (const [name, value] of Object.entries(places)) {
    const path = pathTo(typeof value === 'string' ? (parsed(value) ?? value) : value, placeholder, name)
    if (path !== undefined) return path
  }
  return Object.keys(places)[0] ?? ''
}

/** Path of the first text with a placeholder in it. */
function pathTo(value: Json, placeholder: string, path: string): string | undefined {
  if (typeof value === 'string' || typeof value === 'number') {
    const text = String(value)
    return text.includes(placeholder) || text.includes(placeholder.replace('@', '%40')) ? path : undefined
  }
  if (typeof value !== 'object' || value === null) return undefined
  const isList = Array.isArray(value)
  for (const [key, item] of Object.entries(value as Readonly<Record<string, Json>>)) {
    if (!isList && key.includes(placeholder)) return path
    const found = pathTo(item, placeholder, isList ? `${path}[${key}]` : `${path}.${key}`)
    if (found !== undefined) return found
  }
  return undefined
}

function parsed(text: string): Json | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined
  try {
    return JSON.parse(text) as Json
  } catch {
    // A form, or text: the place is the whole of it.
    return undefined
  }
}
