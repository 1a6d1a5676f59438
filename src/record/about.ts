import { HarvestError, neutralLine } from '../errors/index.ts'
import { type Redactor, subjectTag, subjectVariable } from '../privacy/index.ts'
import type { RunAttributes, TapeHeader } from '../tape/index.ts'

/** What the application says of a run, beside what happens in it. */
export interface AboutRun {
  /**
   * Who the run is about: an address, a customer number. Never written: the tape has a keyed tag in its place (the key is
   * `HARVEST_SUBJECT_KEY`), and where the text itself stands in the run it is redacted.
   */
  readonly subject?: string | readonly string[]
  /** The conversation or job it belongs to. Redacted as every text. */
  readonly session?: string
  /** Facts to find it by: plain values under names. Redacted as every text. */
  readonly attributes?: RunAttributes
}

const none: readonly string[] = []

/** The texts that must not stand on a tape. */
export function subjectsOf({ subject }: AboutRun): readonly string[] {
  if (subject === undefined) return none
  return (typeof subject === 'string' ? [subject] : subject).filter((one) => one !== '')
}

/**
 * What the header says of it.
 *
 * @param key - the first key of subjects
 * @param warn - hears what cannot be written: a subject without a key
 */
export function aboutHeader(
  about: AboutRun,
  redactor: Redactor,
  key: string | undefined,
  warn: (error: HarvestError) => void,
): Pick<TapeHeader, 'subjects' | 'session' | 'attributes'> {
  const subjects = subjectsOf(about)
  if (subjects.length > 0 && key === undefined) warn(subjectKeyMissing())
  const attributes = Object.entries(about.attributes ?? {}).flatMap(
    ([name, value]): [string, RunAttributes[string]][] => {
      if (typeof value === 'number' ? !Number.isFinite(value) : !['string', 'boolean'].includes(typeof value)) {
        warn(attributeRefused(name))
        return []
      }
      // One by one as a member of its name: a value is secret by it.
      return Object.entries(redactor.json({ [name]: value }) as RunAttributes)
    },
  )
  return {
    ...(subjects.length === 0 || key === undefined
      ? {}
      : { subjects: [...new Set(subjects.map((subject) => subjectTag(subject, key)))] }),
    ...(about.session === undefined ? {} : { session: { id: redactor.text(String(about.session)) } }),
    ...(attributes.length === 0 ? {} : { attributes: Object.fromEntries(attributes) }),
  }
}

function subjectKeyMissing(): HarvestError {
  return new HarvestError('HARVEST_SUBJECT_KEY', {
    what: 'A run has a subject, and there is no key to tag it with',
    where: { variable: subjectVariable },
    why: 'A subject is never written in clear, so the tape cannot be found by it.',
    fix: [`export ${subjectVariable}="$(openssl rand -base64 32)"`],
  })
}

function attributeRefused(name: string): HarvestError {
  return new HarvestError('HARVEST_RECORDER_OPTION', {
    what: 'An attribute of a run is not a plain value and was left out',
    where: { attribute: neutralLine(name, 60), wanted: 'text, a number, true or false' },
    fix: ['give it as text: attributes: { plan: JSON.stringify(plan) }'],
  })
}
