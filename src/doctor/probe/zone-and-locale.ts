import { alter } from './alter.ts'
import { type PatchedFunction, patch } from './patching.ts'
import { ask, unwatched } from './probe.ts'
import { type Caller, seamState } from '../../seam/source.ts'

/** At any moment it is another day in one of the first two; in the others it is another minute, another part of the day and summer. */
const zones = ['Pacific/Kiritimati', 'Pacific/Pago_Pago', 'Asia/Kathmandu', 'America/St_Johns']
/** Other digits, and words without a plural. */
const locales = ['ar-EG', 'ja-JP']
const collations = ['sv-SE', 'et-EE', 'da-DK']
const casings = ['tr-TR', 'lt-LT']

/** The environment as it is; {@link probeEnvironment} puts a view over it. */
const environment = process.env

/** What depends on the time zone and the language of the machine where the code does not name one. */
export function probeZoneAndLocale(): void {
  probeDate()
  probeTexts()
  probeIntl()
}

function probeDate(): void {
  const { prototype } = Date
  for (const key of Object.getOwnPropertyNames(prototype)) {
    if (key.startsWith('toLocale')) probeLocaleText(key)
    else if (isLocal(key)) {
      patch(prototype, key, (original) => {
        return function patched(this: Date, ...args: unknown[]): unknown {
          return inZone(zoneAt(`Date#${key}()`, patched), () => original.apply(this, args) as unknown)
        }
      })
    }
  }
}

/** The methods of `Date` that read or set the parts of local time. */
function isLocal(key: string): boolean {
  if (key === 'getTimezoneOffset' || key === 'getYear' || key === 'setYear') return true
  if (['toString', 'toDateString', 'toTimeString'].includes(key)) return true
  return /^[gs]et(?:FullYear|Month|Date|Day|Hours|Minutes|Seconds|Milliseconds)$/.test(key)
}

function probeLocaleText(key: string): void {
  patch(Date.prototype, key, (original) => {
    return function patched(this: Date, asked?: unknown, options?: Intl.DateTimeFormatOptions): unknown {
      const locale = isGiven(asked) ? asked : (localeAt(`Date#${key}()`, locales, patched) ?? asked)
      const zone = options?.timeZone === undefined ? zoneAt(`Date#${key}()`, patched) : undefined
      return inZone(zone, () => original.call(this, locale, options) as unknown)
    }
  })
}

function probeTexts(): void {
  const withLocale = (target: object, key: string, name: string, at: number, known: readonly string[]): void =>
    patch(target, key, (original) => {
      return function patched(this: unknown, ...args: unknown[]): unknown {
        const locale = isGiven(args[at]) ? undefined : localeAt(name, known, patched)
        if (locale !== undefined) args[at] = locale
        return original.apply(this, args) as unknown
      }
    })
  withLocale(Number.prototype, 'toLocaleString', 'Number#toLocaleString()', 0, locales)
  withLocale(BigInt.prototype, 'toLocaleString', 'BigInt#toLocaleString()', 0, locales)
  withLocale(String.prototype, 'localeCompare', 'String#localeCompare()', 1, collations)
  withLocale(String.prototype, 'toLocaleUpperCase', 'String#toLocaleUpperCase()', 0, casings)
  withLocale(String.prototype, 'toLocaleLowerCase', 'String#toLocaleLowerCase()', 0, casings)
}

function probeIntl(): void {
  const kinds = {
    NumberFormat: locales,
    DateTimeFormat: locales,
    Collator: collations,
    PluralRules: locales,
    RelativeTimeFormat: locales,
    ListFormat: locales,
    DurationFormat: locales,
    Segmenter: locales,
  }
  for (const [key, known] of Object.entries(kinds)) probeFormat(key, known)
  probeFormatNow()
}

function probeFormat(key: string, known: readonly string[]): void {
  const table = Intl as unknown as Record<string, (new (...args: unknown[]) => object) & PatchedFunction>
  const Original = table[key]
  // DurationFormat is not there in every Node we run in.
  if (!Original) return
  const given = (args: unknown[], caller: Caller): unknown[] => {
    const [asked, options] = args as [unknown, Intl.DateTimeFormatOptions | undefined]
    const name = `Intl.${key}()`
    const locale = isGiven(asked) ? asked : (localeAt(name, known, caller) ?? asked)
    const hasZone = key !== 'DateTimeFormat' || options?.timeZone !== undefined
    const zone = hasZone ? undefined : zoneAt(name, caller)
    return zone === undefined ? [locale, options] : [locale, { ...options, timeZone: zone }]
  }
  table[key] = new Proxy(Original, {
    construct: function construct(target, args, newTarget) {
      return Reflect.construct(target, given(args, construct), newTarget) as object
    },
    apply: function apply(target, self, args) {
      return Reflect.apply(target, self, given(args, apply)) as unknown
    },
  })
}

/** A date format that is given no date takes the clock of the machine. */
function probeFormatNow(): void {
  const { prototype } = Intl.DateTimeFormat
  const getter = Object.getOwnPropertyDescriptor(prototype, 'format')?.get
  if (getter) {
    Object.defineProperty(prototype, 'format', {
      configurable: true,
      get(this: Intl.DateTimeFormat) {
        const real = getter.call(this) as (date?: unknown) => string
        return function format(date?: unknown): string {
          return real(date ?? clockAt('Intl.DateTimeFormat#format()', format))
        }
      },
    })
  }
  patch(prototype, 'formatToParts', (original) => {
    return function patched(this: unknown, date?: unknown): unknown {
      return original.call(this, date ?? clockAt('Intl.DateTimeFormat#formatToParts()', patched)) as unknown
    }
  })
}

function clockAt(name: string, caller: Caller): number | undefined {
  const slot = ask(() => ({ kind: 'clock', name }), caller)
  return slot?.of(seamState().natives.epoch, {
    'another moment': (noted) => alter(noted) + 400.4 * 24 * 3_600_000,
    'an earlier moment': (noted) => noted - 4_000.7 * 24 * 3_600_000,
  })
}

function zoneAt(name: string, caller: Caller): string | undefined {
  return ask(() => ({ kind: 'time zone', name }), caller)?.way(zones)
}

function localeAt(name: string, known: readonly string[], caller: Caller): string | undefined {
  return ask(() => ({ kind: 'locale', name }), caller)?.way(known)
}

function isGiven(asked: unknown): boolean {
  return asked !== undefined && !(Array.isArray(asked) && asked.length === 0)
}

/** Does something in another time zone: Node takes notice when `TZ` is set. */
function inZone<T>(zone: string | undefined, work: () => T): T {
  if (zone === undefined) return work()
  return unwatched(() => {
    const before = environment['TZ']
    environment['TZ'] = zone
    try {
      return work()
    } finally {
      if (before === undefined) delete environment['TZ']
      else environment['TZ'] = before
    }
  })
}
