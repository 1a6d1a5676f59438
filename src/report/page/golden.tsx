import { computed, signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import type { GoldenCase, GoldenData, InboxTape } from '../view/types.ts'
import { int, usd } from './format.ts'
import { golden, theme } from './state.ts'
import { Safe } from './text.tsx'

type State = GoldenCase['state']
type Column = 'state' | 'id' | 'agent' | 'drift' | 'ms'

const states: readonly State[] = ['red', 'broken', 'unproven', 'known bad', 'not run', 'green']
const colours: Readonly<Record<State, string>> = {
  red: 'bad',
  broken: 'bad',
  unproven: 'warn',
  'known bad': 'warn',
  'not run': '',
  green: 'ok',
}
const runWords: Readonly<Record<string, string>> = { g: 'green', r: 'red', u: 'unproven', k: 'known bad', n: 'not run' }

const search = signal('')
const sortBy = signal<Column>('state')
const only = signal<State | ''>('')

const driftOf = ({ drift }: GoldenCase): number => Object.values(drift).reduce((sum, count) => sum + count, 0)
const orders: Readonly<Record<Column, (one: GoldenCase, other: GoldenCase) => number>> = {
  state: (one, other) => states.indexOf(one.state) - states.indexOf(other.state) || one.id.localeCompare(other.id),
  id: (one, other) => one.id.localeCompare(other.id),
  agent: (one, other) => one.agent.localeCompare(other.agent),
  drift: (one, other) => driftOf(other) - driftOf(one),
  ms: (one, other) => (other.ms ?? -1) - (one.ms ?? -1),
}

const cases = computed(() => {
  const word = search.value.toLowerCase()
  return (golden.value?.cases ?? [])
    .filter(({ state }) => only.value === '' || state === only.value)
    .filter(({ id, title, agent, models, tags = [] }) =>
      [id, title, agent, ...models, ...tags].join(' ').toLowerCase().includes(word),
    )
    .toSorted(orders[sortBy.value])
})

/** Every case with how it was the last time; on a page that is served, the inbox as well. */
export function Golden({ held }: { readonly held: GoldenData }) {
  const isDark = theme.value === 'dark'
  return (
    <>
      <header class="head">
        <h1>Golden set</h1>
        <div class="facts grow">
          <span>
            <Safe text={held.last} />
          </span>
          <span>
            commit{' '}
            <b class="mono">
              <Safe text={held.commit} />
            </b>
          </span>
          <span>made {held.at.replace('T', ' ').replace(/\..*/, ' UTC')}</span>
        </div>
        <input
          class="search"
          id="q"
          type="search"
          aria-label="Search"
          placeholder="Search  /"
          value={search.value}
          onInput={(event) => (search.value = event.currentTarget.value)}
        />
        <button
          type="button"
          class="btn"
          aria-label="Light or dark"
          onClick={() => (theme.value = isDark ? 'light' : 'dark')}
        >
          {isDark ? 'Light' : 'Dark'}
        </button>
      </header>
      <div />
      <main class="wide" tabIndex={0}>
        <Cases held={held} />
        {held.inbox !== undefined && <Inbox tapes={held.inbox} />}
      </main>
    </>
  )
}

function Cases({ held }: { readonly held: GoldenData }) {
  const count = (state: State): number => held.cases.filter((one) => one.state === state).length
  return (
    <section>
      <div class="tiles">
        {states
          .filter((state) => count(state) > 0)
          .map((state) => (
            <button
              type="button"
              aria-pressed={only.value === state}
              onClick={() => (only.value = only.value === state ? '' : state)}
            >
              <b class="num">{count(state)}</b>
              <span class={`badge ${colours[state]}`}>{state}</span>
            </button>
          ))}
      </div>
      {cases.value.length > 0 ? (
        <table class="dash">
          <thead>
            <tr>
              <Head name="state">last</Head>
              <Head name="id">case</Head>
              <Head name="agent">agent</Head>
              <th>models</th>
              <Head name="drift">drift</Head>
              <th>pins</th>
              <th>last 20 runs</th>
              <Head name="ms">took</Head>
            </tr>
          </thead>
          <tbody>
            {cases.value.map((one) => (
              <CaseRow one={one} />
            ))}
          </tbody>
        </table>
      ) : (
        <div class="empty">
          {held.cases.length > 0 ? (
            'No case matches.'
          ) : (
            <>
              The golden set is empty.<code>npx vitest-harvest promote latest --as my-first-case</code>
            </>
          )}
        </div>
      )}
    </section>
  )
}

function Head({ name, children }: { readonly name: Column; readonly children: ComponentChildren }) {
  const isOn = sortBy.value === name
  return (
    <th aria-sort={isOn ? 'ascending' : 'none'}>
      <button type="button" onClick={() => (sortBy.value = name)}>
        {children}
        {isOn ? ' ↓' : ''}
      </button>
    </th>
  )
}

function CaseRow({ one }: { readonly one: GoldenCase }) {
  const { state, id, title, why, agent, models, drift, pins, runs, ms, report } = one
  const red = [...runs].filter((run) => run === 'r').length
  return (
    <tr class={state === 'red' || state === 'broken' ? 'redrow' : ''}>
      <td>
        <span class={`badge ${colours[state]}`}>{state}</span>
      </td>
      <td>
        {report === undefined ? (
          <b>
            <Safe text={id} />
          </b>
        ) : (
          <a class="more" href={report}>
            <Safe text={id} />
          </a>
        )}
        <div class="faint">
          <Safe text={why ?? title ?? ''} />
        </div>
      </td>
      <td>
        <Safe text={agent} />
      </td>
      <td class="soft">{models.length === 0 ? 'none' : <Safe text={models.join(', ')} />}</td>
      <td>
        {Object.keys(drift).length === 0
          ? runs === ''
            ? 'unknown'
            : 'none'
          : Object.entries(drift).map(([name, times]) => (
              <span class="badge warn aside">
                <Safe text={name} /> {times}
              </span>
            ))}
      </td>
      <td class="soft">
        <Safe text={pins} />
      </td>
      <td>
        {runs === '' ? (
          'unknown'
        ) : (
          <span class="spark" role="img" aria-label={`${red} of ${runs.length} runs red`}>
            {[...runs].map((run) => (
              <i class={run} title={runWords[run] ?? run} />
            ))}
          </span>
        )}
      </td>
      <td class="num">{ms === undefined ? 'unknown' : `${int(Math.round(ms))} ms`}</td>
    </tr>
  )
}

function Inbox({ tapes }: { readonly tapes: readonly InboxTape[] }) {
  const word = search.value.toLowerCase()
  const found = tapes.filter(({ id, agent, outcome }) => `${id} ${agent} ${outcome}`.toLowerCase().includes(word))
  return (
    <section>
      <h2>Inbox</h2>
      {found.length === 0 ? (
        <div class="empty">
          {tapes.length > 0 ? (
            'No tape matches.'
          ) : (
            <>
              The inbox is empty.<code>npx vitest-harvest record -- node agent.js</code>
            </>
          )}
        </div>
      ) : (
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
            {found.map(({ id, agent, startedAt, outcome, steps, costUsd, report }) => (
              <tr>
                <td>
                  {report === undefined ? (
                    <Safe text={id} />
                  ) : (
                    <a class="more" href={report}>
                      <Safe text={id} />
                    </a>
                  )}
                </td>
                <td>
                  <Safe text={agent} />
                </td>
                <td class="num">{startedAt.replace('T', ' ').replace(/\..*/, ' UTC')}</td>
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
      )}
    </section>
  )
}
