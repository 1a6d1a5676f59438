import type { ComponentChildren } from 'preact'
import type { ReportNote, ReportStep } from '../view/types.ts'
import { Blame, runsOf } from './blame.tsx'
import { Context, SinceBefore, Section, Tools } from './context.tsx'
import { int, ms, offset, pretty, usd } from './format.ts'
import { Now } from './now.tsx'
import { callBefore } from './prompt.ts'
import { curlOf, expectations, Raw } from './raw.tsx'
import { go } from './scroll.ts'
import { blameOf, copy, copyLink, current, differing, found, isTimed, report, tab, text } from './state.ts'
import { Talk } from './talk.tsx'
import { Diff, Safe, Text, Two } from './text.tsx'

interface TabSpec {
  readonly name: string
  readonly title: string
  readonly body: (s: ReportStep) => ComponentChildren
  /** Shown only where there is no room for a third panel. */
  readonly isNarrow?: true
}

function tabsOf(s: ReportStep): readonly TabSpec[] {
  const { replay, other, diff } = report()
  const before = callBefore(s)
  const hasOther = differing.value.has(s.no) || other !== undefined || diff !== undefined
  const tools = s.prompt?.tools.length ?? 0
  const when = (isThere: boolean, spec: TabSpec): readonly TabSpec[] => (isThere ? [spec] : [])
  return [
    ...when(replay !== undefined && (replay.nearest ?? s.no) === s.no, {
      name: 'now',
      title: 'Recorded and now',
      body: () => <Now />,
    }),
    { name: 'talk', title: s.prompt === undefined ? 'Call' : 'Conversation', body: (one) => <Talk s={one} /> },
    ...when(s.prompt !== undefined, { name: 'context', title: 'What it saw', body: (one) => <Context s={one} /> }),
    ...when(before !== undefined, {
      name: 'prev',
      title: `Since step ${before?.no}`,
      body: (one) => <SinceBefore s={one} />,
    }),
    ...when(hasOther, { name: 'other', title: 'Other run', body: (one) => <OtherRun s={one} /> }),
    ...when(tools > 0, { name: 'tools', title: `Tools ${tools}`, body: (one) => <Tools s={one} /> }),
    { name: 'raw', title: 'Raw', body: (one) => <Raw s={one} /> },
    { name: 'blame', title: 'Blame', body: () => <Blame />, isNarrow: true },
  ]
}

/** The chosen step. */
export function Panel() {
  const row = current.value
  if (row?.note !== undefined) return <NotePanel note={row.note} />
  if (row?.only !== undefined)
    return (
      <main class="pane" aria-label="Step of the replay">
        <div class="stephead">
          <h2>
            <Safe text={row.only.name} />
          </h2>
          <div class="facts">
            <span class="badge bad">only now</span>
            <span>{row.only.kind}: the agent makes this step, and the tape does not have it</span>
          </div>
        </div>
        <div class="body">
          <Text text={pretty(text(row.only.t))} lines={60} find={found.value} />
        </div>
      </main>
    )
  const s = row?.s
  if (s === undefined)
    return (
      <main class="pane">
        <div class="body">
          <div class="empty">This tape has no step.</div>
        </div>
      </main>
    )
  const tabs = tabsOf(s)
  const on = tabs.find(({ name }) => name === tab.value) ?? tabs.find(({ name }) => name === 'talk')
  return (
    <main class="pane" aria-label={`Step ${s.no}`}>
      <StepHead s={s} />
      <TabRow tabs={tabs} on={on?.name ?? 'talk'} />
      <div
        class="body"
        id="stepbody"
        role="tabpanel"
        aria-labelledby={`tab-${on?.name}`}
        tabIndex={0}
        key={`${s.no}${on?.name}`}
      >
        {on?.body(s)}
      </div>
    </main>
  )
}

function NotePanel({ note }: { readonly note: ReportNote }) {
  const name = note.kind === 'message' ? `${note.from} → ${note.to}` : (note.model?.name ?? note.name ?? '')
  return (
    <main class="pane" aria-label="Note">
      <div class="stephead">
        <h2>
          <Safe text={name === '' ? 'unnamed' : name} />
        </h2>
        <div class="facts">
          <span>{note.model === undefined ? note.kind : 'model call, as an imported trace tells of it'}</span>
          {isTimed.value && <span class="num">{offset(note.at)}</span>}
        </div>
      </div>
      <div class="body">
        <article class="msg code">
          <div>
            <Text text={pretty(text(note.t))} lines={60} find={found.value} />
          </div>
        </article>
      </div>
    </main>
  )
}

function TabRow({ tabs, on }: { readonly tabs: readonly TabSpec[]; readonly on: string }) {
  const move = (event: KeyboardEvent): void => {
    const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
    if (by === 0) return
    event.stopPropagation()
    const next = tabs[(tabs.findIndex(({ name }) => name === on) + by + tabs.length) % tabs.length]
    if (next === undefined) return
    tab.value = next.name
    requestAnimationFrame(() => document.getElementById(`tab-${next.name}`)?.focus())
  }
  return (
    <div class="subtabs" role="tablist" aria-label="Views of the step">
      {tabs.map(({ name, title, isNarrow }) => (
        <button
          type="button"
          role="tab"
          id={`tab-${name}`}
          class={isNarrow && on !== name ? 'narrow' : ''}
          aria-controls="stepbody"
          aria-selected={on === name}
          tabIndex={on === name ? 0 : -1}
          onClick={() => (tab.value = name)}
          onKeyDown={move}
        >
          {title}
        </button>
      ))}
    </div>
  )
}

function StepLink({ no }: { readonly no: number }) {
  return (
    <button type="button" class="more" onClick={() => go(no)}>
      {no}
    </button>
  )
}

function StepHead({ s }: { readonly s: ReportStep }) {
  const [input, cached, output, reasoning] = s.tok ?? []
  const blamed = blameOf.value.get(s.no)
  return (
    <div class="stephead">
      <div class="row">
        <h2 class="grow cut">
          {s.no} <Safe text={s.name === '' ? 'unnamed' : s.name} />
        </h2>
        {s.raw !== undefined && (
          <button type="button" class="btn" onClick={() => void copy(curlOf(s), 'curl')}>
            Copy as curl
          </button>
        )}
        {s.calls !== undefined && (
          <button type="button" class="btn" onClick={() => void copy(expectations(s), 'toCall')}>
            Copy as toCall
          </button>
        )}
        <button type="button" class="btn" onClick={() => void copyLink()}>
          Copy link
        </button>
      </div>
      <div class="facts">
        <span class={`badge ${s.kind}`}>{s.kind}</span>
        <span>
          agent{' '}
          <b>
            <Safe text={s.lane} />
          </b>
        </span>
        <span class="num">
          {isTimed.value ? (
            <>
              {offset(s.at)}, took <b>{ms(s.took)}</b>
            </>
          ) : (
            'time not recorded'
          )}
        </span>
        {s.tok !== undefined && (
          <span class="num">
            <b>{int(input)}</b> tokens in{cached ? ` (${int(cached)} cached)` : ''}, <b>{int(output)}</b> out
            {reasoning ? ` (${int(reasoning)} reasoning)` : ''}
          </span>
        )}
        {s.kind === 'model' && s.tok === undefined && <span>tokens unknown</span>}
        {s.kind === 'model' && <span class="num">{s.cost === undefined ? 'cost unknown' : usd(s.cost)}</span>}
        {s.status !== undefined && <span>HTTP {s.status}</span>}
        {s.fin !== undefined && (
          <span>
            finish <Safe text={s.fin} />
          </span>
        )}
        {s.par !== undefined && isTimed.value && (
          <span>
            beside{' '}
            {s.par.map((no, index) => (
              <>
                {index > 0 && ', '}
                <StepLink no={no} />
              </>
            ))}
          </span>
        )}
        {s.again !== undefined && (
          <span>
            the same request as step <StepLink no={s.again} />
          </span>
        )}
        {s.inside !== undefined && (
          <span>
            inside step <StepLink no={s.inside} />
          </span>
        )}
        {s.site !== undefined && (
          <span class="mono">
            <Safe text={s.site} />
          </span>
        )}
        {blamed?.resampled !== undefined && blamed.commitment === undefined && runsOf(blamed) > 0 && (
          <span class="num">
            resampled from here,{' '}
            <b>
              {blamed.resampled.ok} of {runsOf(blamed)}
            </b>{' '}
            end well (all forks from here)
          </span>
        )}
      </div>
    </div>
  )
}

const roleTexts = {
  origin: 'Asked the same, answered differently.',
  follows: 'It was asked something else.',
  chance: 'A failure of the network or provider, no decision.',
  aside: 'Only the address or headers differ.',
} as const

/** The same step of the other run. */
function OtherRun({ s }: { readonly s: ReportStep }) {
  const { diff, other } = report()
  const row = diff?.steps.find(({ a }) => a === s.no)
  if (row?.b === undefined) return <div class="empty">The other run has no such step.</div>
  if (row.differences.length === 0)
    return <div class="empty">Step {row.b} of the other run is the same: request, settings and answer.</div>
  const twin = other?.steps[row.b - 1]
  return (
    <>
      {row.role !== undefined && (
        <p class="soft gap">
          {roleTexts[row.role]}
          {diff?.parts?.a === s.no ? ' The runs part here.' : ''}
        </p>
      )}
      {row.differences.map((one) => (
        <section class="diff">
          <header>
            <span class="badge warn">{one.class}</span>
            <span class="mono">
              <Safe text={one.path} />
            </span>
          </header>
          <Two a={one.a} b={one.b} titles={['this run', `other run, step ${row.b}`]} />
        </section>
      ))}
      {twin?.said !== undefined && s.said !== undefined && (
        <Section title="Answer, whole">
          <Diff a={text(s.said)} b={text(twin.said)} byWords />
        </Section>
      )}
    </>
  )
}
