import { counted, int, usd } from './format.ts'
import { query } from './state.ts'
import { Safe } from './text.tsx'
import type { InboxTape, InboxView as Held } from '../view/types.ts'

/** Filters that stand open; the others are one click away. */
const usual = new Set(['text', 'call', 'agent', 'status', 'subject', 'since'])

/** The tapes of the inbox, asked for as `ls` asks, and the sessions they are of. */
export function Inbox({ held }: { readonly held: Held }) {
  const word = query.value.toLowerCase()
  const { tapes, total, more, asked, problem } = held
  const found = tapes.filter(({ id, agent, outcome, session = '' }) =>
    `${id} ${agent} ${outcome} ${session}`.toLowerCase().includes(word),
  )
  return (
    <section>
      <h2>Inbox</h2>
      <Filters held={held} />
      {problem !== undefined ? (
        <p class="empty" role="alert">
          <Safe text={problem} />
        </p>
      ) : total === 0 ? (
        <div class="empty">
          The inbox is empty.<code>npx vitest-harvest record -- node '&lt;file&gt;'</code>
        </div>
      ) : (
        <>
          <p class="soft gap" role="status">
            {asked.length > 0 || found.length < tapes.length
              ? `${int(found.length + (word === '' ? more : 0))} of ${counted(total, 'tape')}`
              : counted(total, 'tape')}
            {more > 0 && `, the newest ${int(tapes.length)} are listed`}
          </p>
          {found.length > 0 && <Tapes tapes={found} />}
          <Sessions tapes={found} />
        </>
      )}
    </section>
  )
}

/** Goes to the page of a question: it is answered where the tapes are. */
function ask(asked: readonly (readonly [string, string])[]): void {
  const words = new URLSearchParams(asked.map(([name, value]): [string, string] => [name, value])).toString()
  location.assign(`${location.pathname}${words === '' ? '' : `?${words}`}`)
}

function Filters({ held: { filters, asked } }: { readonly held: Held }) {
  const form = (event: Event): void => {
    event.preventDefault()
    const inputs = [...document.querySelectorAll<HTMLInputElement>('.ask input')]
    ask(inputs.flatMap(({ name, value }) => (value.trim() === '' ? [] : [[name, value.trim()] as const])))
  }
  // One that may be given more than once has a field for each.
  const fields = filters.flatMap(({ name, takes, about }) => {
    const given = asked.filter(([one]) => one === name).map(([, value]) => value)
    return (given.length === 0 ? [''] : given).map((value) => ({ name, takes, about, value }))
  })
  const isOpen = ({ name, value }: { readonly name: string; readonly value: string }): boolean =>
    usual.has(name) || value !== ''
  return (
    <form class="ask" onSubmit={form} aria-label="Filters of the inbox">
      <div>
        {fields.filter(isOpen).map((field) => (
          <Field {...field} />
        ))}
        <button type="submit" class="btn">
          Filter
        </button>
        {asked.length > 0 && (
          <button type="button" class="btn" onClick={() => ask([])}>
            Clear
          </button>
        )}
      </div>
      <details>
        <summary>More filters</summary>
        <div>
          {fields
            .filter((field) => !isOpen(field))
            .map((field) => (
              <Field {...field} />
            ))}
        </div>
      </details>
    </form>
  )
}

interface FieldText {
  readonly name: string
  readonly takes: string
  readonly about: string
  readonly value: string
}

function Field({ name, takes, about, value }: FieldText) {
  return (
    <label title={about}>
      <span>{name}</span>
      <input class="search" name={name} value={value} placeholder={takes.slice(1, -1)} autocomplete="off" />
    </label>
  )
}

const when = (startedAt: string): string =>
  startedAt === '' ? 'unknown' : startedAt.replace('T', ' ').replace(/\..*/, ' UTC')

function Tapes({ tapes }: { readonly tapes: readonly InboxTape[] }) {
  return (
    <table class="dash">
      <thead>
        <tr>
          <th>tape</th>
          <th>agent</th>
          <th>started</th>
          <th>outcome</th>
          <th class="num">steps</th>
          <th class="num">cost</th>
        </tr>
      </thead>
      <tbody>
        {tapes.map(({ id, agent, startedAt, outcome, steps, costUsd, branchOf, report }) => (
          <tr>
            <td>
              {report === undefined ? (
                <Safe text={id} />
              ) : (
                <a class="more" href={report}>
                  <Safe text={id} />
                </a>
              )}
              {branchOf !== undefined && (
                <div class="faint">
                  branch of <Safe text={branchOf} />
                </div>
              )}
            </td>
            <td>
              <Safe text={agent} />
            </td>
            <td class="when">{when(startedAt)}</td>
            <td>
              <span class={`badge ${outcome === 'returned' ? 'ok' : outcome === 'unknown' ? '' : 'bad'}`}>
                <Safe text={outcome} />
              </span>
            </td>
            <td class="num">{int(steps)}</td>
            <td class="num">{usd(costUsd)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** Conversations of more than one run. */
function Sessions({ tapes }: { readonly tapes: readonly InboxTape[] }) {
  const groups = [...Map.groupBy(tapes, ({ session }) => session)].flatMap(([id, list]) =>
    id === undefined ? [] : [{ id, list }],
  )
  if (groups.length === 0) return null
  return (
    <>
      <h3 class="sect">Sessions</h3>
      <table class="dash">
        <thead>
          <tr>
            <th>session</th>
            <th>agents</th>
            <th>first</th>
            <th>last</th>
            <th class="num">runs</th>
            <th class="num">not returned</th>
            <th class="num">steps</th>
          </tr>
        </thead>
        <tbody>
          {groups.map(({ id, list }) => (
            <tr>
              <td>
                <button type="button" class="more" onClick={() => ask([['session', id]])}>
                  <Safe text={id} />
                </button>
              </td>
              <td>
                <Safe text={[...new Set(list.map(({ agent }) => agent))].join(', ')} />
              </td>
              <td class="when">{when(list.at(-1)?.startedAt ?? '')}</td>
              <td class="when">{when(list[0]?.startedAt ?? '')}</td>
              <td class="num">{int(list.length)}</td>
              <td class="num">{int(list.filter(({ outcome }) => outcome !== 'returned').length)}</td>
              <td class="num">{int(list.reduce((sum, { steps }) => sum + steps, 0))}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  )
}
