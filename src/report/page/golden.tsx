import { computed, signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import type { GoldenCase, GoldenData } from '../view/types.ts'
import { Search, Theme } from './controls.tsx'
import { counted, int } from './format.ts'
import { Inbox } from './inbox.tsx'
import { golden, query } from './state.ts'
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
  const word = query.value.toLowerCase()
  return (golden.value?.cases ?? [])
    .filter(({ state }) => only.value === '' || state === only.value)
    .filter(({ id, title, agent, models, tags = [] }) =>
      [id, title, agent, ...models, ...tags].join(' ').toLowerCase().includes(word),
    )
    .toSorted(orders[sortBy.value])
})

/** Every case with how it was the last time; on a page that is served, the inbox as well. */
export function Golden({ held }: { readonly held: GoldenData }) {
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
        <Search label="Search" />
        <Theme />
      </header>
      <div />
      <main class="wide" tabIndex={0}>
        <Cases held={held} />
        {held.inbox !== undefined && <Inbox held={held.inbox} />}
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
    <th aria-sort={isOn ? 'ascending' : 'none'} class={name === 'ms' ? 'num' : ''}>
      <button type="button" onClick={() => (sortBy.value = name)}>
        {children}
        {isOn ? ' ↓' : ''}
      </button>
    </th>
  )
}

/** `4 runs: 2 green, 1 red, 1 unproven`: the oldest first are the bars. */
function runsText(runs: string): string {
  const counts = [...Map.groupBy(runs, (run) => runWords[run] ?? run)].map(([word, { length }]) => `${length} ${word}`)
  return `${counted(runs.length, 'run')}: ${counts.join(', ')}`
}

function CaseRow({ one }: { readonly one: GoldenCase }) {
  const { state, id, title, why, agent, models, drift, pins, runs, ms, report } = one
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
          <span class="spark" role="img" aria-label={runsText(runs)}>
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
