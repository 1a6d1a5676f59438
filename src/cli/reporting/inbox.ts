import { HarvestError } from '../../errors/index.ts'
import { queryTapes } from '../../recordings/index.ts'
import type { InboxView } from '../../report/view/types.ts'
import type { CommandInput } from '../command.ts'
import { nameOf } from '../parse.ts'
import { filterOptions, openSpec } from '../spec/inspect.ts'
import { filterOf } from '../tape-filter.ts'

/** Tapes that one page lists. */
const listed = 500

/** Filters of `ls`; the page lists the inbox alone. */
const filters = filterOptions
  .map(({ flag, about }) => ({ name: nameOf(flag).slice(2), takes: flag.split(' ').slice(1).join(' '), about }))
  .filter(({ takes }) => takes !== '')

/** What is asked of the inbox: names and values, as an address has them. */
export type Asked = readonly (readonly [name: string, value: string])[]

/** The filters in the address of a page; what is not one is left out. */
export function askedIn(query: URLSearchParams): Asked {
  const names = new Set(filters.map(({ name }) => name))
  return [...query].filter(([name, value]) => names.has(name) && value !== '')
}

/** The same as a part of an address. */
export function addressOfQuery(asked: Asked): string {
  return new URLSearchParams(asked.map(([name, value]): [string, string] => [name, value])).toString()
}

/** The filters a command was given. Whom it was asked about is printed nowhere, and stands as `-`. */
export function askedOf(given: CommandInput): Asked {
  return filters.flatMap(({ name }) =>
    given.values(name).map((value): [string, string] => [name, name === 'subject' ? '-' : value]),
  )
}

/**
 * The tapes of the inbox that are asked for, the newest first. A filter that makes no sense lists none and says why.
 *
 * @param subject - tags that the subject `-` stands for
 */
export async function gatherInbox(
  recordings: string,
  asked: Asked,
  linkOf: (file: string) => string,
  subject?: readonly string[],
): Promise<InboxView> {
  const view = { filters, asked }
  try {
    const isGiven = asked.some(([name, value]) => name === 'subject' && value === '-')
    const filter = {
      ...filterOf(inputOf(asked), Date.now(), openSpec),
      ...(isGiven ? { subject: subject ?? [] } : {}),
      place: 'inbox' as const,
    }
    const [list, all] = [
      await queryTapes(recordings, { filter, limit: listed }),
      await queryTapes(recordings, { filter: { place: 'inbox' }, limit: 1 }),
    ]
    const tapes = [...list.tapes, ...list.unreadable].map((tape) => ({
      id: tape.id ?? tape.file,
      agent: tape.agent ?? 'unknown',
      startedAt: tape.startedAt ?? '',
      outcome: tape.outcome ?? tape.state,
      steps: tape.steps ?? 0,
      ...(tape.costUsd === undefined ? {} : { costUsd: tape.costUsd }),
      ...(tape.session === undefined ? {} : { session: tape.session }),
      ...(tape.branchOf === undefined ? {} : { branchOf: tape.branchOf }),
      ...(tape.state === 'unreadable' ? {} : { report: linkOf(tape.file) }),
    }))
    return {
      ...view,
      tapes: tapes.sort((one, other) => (one.startedAt < other.startedAt ? 1 : -1)),
      total: all.tapes.length + all.unreadable.length + all.more,
      more: list.more,
    }
  } catch (error) {
    if (!HarvestError.is(error)) throw error
    return { ...view, tapes: [], total: 0, more: 0, problem: error.facts.what }
  }
}

/** What was asked, as a command is given it. */
function inputOf(asked: Asked): CommandInput {
  const values = (name: string): readonly string[] =>
    asked.flatMap(([one, value]) => {
      // `-` stands for the input of a command, and a page has none.
      return one === name && !(name === 'subject' && value === '-') ? [value] : []
    })
  return {
    args: [],
    rest: undefined,
    values,
    value: (name) => values(name).at(-1),
    has: (name) => values(name).length > 0,
  }
}
