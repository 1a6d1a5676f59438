import type { MarkEvent, MessageEvent, Tape } from '../tape/index.ts'
import { type AnnouncementDifference, addressOf, type Announcement, factOf } from './announcements.ts'

/** Marks stand between messages: which came first is a part of what the agent says of itself. */
export class AnnouncedOrder {
  readonly #expected: readonly Announcement[]
  readonly #made: { readonly event: Announcement; readonly site: string | undefined }[] = []

  /** What was made inside the body of a wrapped function is left to that, and what an importer noted was not said. */
  constructor(tape: Tape) {
    const isSaid = tape.header.imported === undefined
    this.#expected = isSaid ? tape.events.filter(isAnnouncement).filter((event) => event.in === undefined) : []
  }

  made(event: Announcement, site: () => string | undefined): void {
    const isOther = this.#expected[this.#made.length]?.kind !== event.kind
    this.#made.push({ event, site: isOther ? site() : undefined })
  }

  /** The first mark that stands elsewhere among the messages, where messages and marks by themselves are as expected. */
  difference(): Omit<AnnouncementDifference, 'step' | 'stepNumber'> | undefined {
    const at = this.#made.findIndex(({ event }, i) => event.kind !== this.#expected[i]?.kind)
    const [expected, made] = [this.#expected[at], this.#made[at]]
    if (expected === undefined || made === undefined) return undefined
    const isEarlier = made.event.kind === 'mark'
    const mark = isEarlier ? made.event : expected
    const count = (kind: Announcement['kind']): number =>
      this.#expected.slice(0, at).filter((event) => event.kind === kind).length + 1
    const message = `message ${count('message')}`
    const [recorded, live] = isEarlier ? ['after', 'before'] : ['before', 'after']
    return {
      kind: 'moved',
      name: `mark ${count('mark')}, ${addressOf(factOf(mark))}`,
      path: 'order',
      recorded: `${recorded} ${message}`,
      live: `${live} ${message}`,
      ...(made.site === undefined ? {} : { site: made.site }),
    }
  }
}

function isAnnouncement(event: Tape['events'][number]): event is MessageEvent | MarkEvent {
  return event.kind === 'message' || event.kind === 'mark'
}
