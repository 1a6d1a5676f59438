import { signal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { ReportNote, ReportStep } from '../view/types.ts'
import { counted, flat, int, ms, offset, plain } from './format.ts'
import { endOfRun, Overview, placeOf, widthOf } from './overview.tsx'
import { go, list, rowHeight } from './scroll.ts'
import {
  current,
  decidedSteps,
  differing,
  found,
  isAlike,
  isPrinting,
  isTimed,
  kinds,
  onlyHot,
  query,
  replayed,
  report,
  type TimelineRow,
  rows,
  shown,
  step,
  text,
} from './state.ts'
import { Safe } from './text.tsx'

/** Rows outside of what is seen. */
const around = 6

const top = signal(0)
const height = signal(600)
export function List() {
  const element = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const box = element.current
    list.element = box
    if (box === null) return undefined
    const observer = new ResizeObserver(() => (height.value = box.clientHeight))
    observer.observe(box)
    if (step.value !== 0) go(step.value)
    return () => observer.disconnect()
  }, [])
  const all = shown.value
  const [from, to] = isPrinting.value
    ? [0, all.length]
    : [
        Math.max(0, Math.floor(top.value / rowHeight) - around),
        Math.min(all.length, Math.ceil((top.value + height.value) / rowHeight) + around),
      ]
  return (
    <section class="pane left" aria-label="Timeline">
      <Overview />
      <Filters />
      <div class="list" ref={element} onScroll={(event) => (top.value = event.currentTarget.scrollTop)}>
        {all.length > 0 ? (
          <div
            class="rows"
            role="listbox"
            aria-label="Steps"
            tabIndex={0}
            {...(current.value === undefined ? {} : { 'aria-activedescendant': `r${current.value.id}` })}
            style={{ height: `${all.length * rowHeight}px` }}
          >
            {all.slice(from, to).map((row, index) => (
              <RowLine key={row.id} row={row} index={from + index} />
            ))}
          </div>
        ) : (
          <div class="empty pad">
            {rows.value.length === 0 ? 'This tape has no step.' : 'No step matches. '}
            {rows.value.length > 0 && (
              <button type="button" class="more" onClick={clearFilters}>
                Show all
              </button>
            )}
          </div>
        )}
      </div>
    </section>
  )
}

function clearFilters(): void {
  query.value = ''
  kinds.value = new Set()
  onlyHot.value = false
}

function Filters() {
  const { run } = report()
  const known = [...new Set(run.steps.map(({ kind }) => kind))]
  const names = run.notes.length > 0 ? [...known, 'note'] : known
  const toggle = (name: string): void => {
    const next = new Set(kinds.value)
    if (!next.delete(name)) next.add(name)
    kinds.value = next
  }
  const [count, total] = [shown.value.length, rows.value.length]
  return (
    <div class="filters" role="group" aria-label="Filters">
      {names.map((name) => (
        <button type="button" class="chip" aria-pressed={kinds.value.has(name)} onClick={() => toggle(name)}>
          {name}
        </button>
      ))}
      <button
        type="button"
        class="chip"
        aria-pressed={onlyHot.value}
        title="errors, retries, differences, blame"
        onClick={() => (onlyHot.value = !onlyHot.value)}
      >
        worth a look
      </button>
      <span class="grow" />
      <span class="faint num" role="status">
        {count === total ? counted(run.steps.length, 'step') : `${int(count)} of ${int(total)}`}
      </span>
    </div>
  )
}

function RowLine({ row, index }: { readonly row: TimelineRow; readonly index: number }) {
  const { s, note, only, id } = row
  const isOn = current.value?.id === id
  const shared = {
    role: 'option' as const,
    id: `r${id}`,
    'aria-selected': isOn,
    style: { transform: `translateY(${index * rowHeight}px)` },
    onClick: () => go(id),
  }
  if (s !== undefined)
    return (
      <div class={`step${decidedSteps.value.has(s.no) ? ' blamed' : ''}`} {...shared}>
        <StepCells s={s} />
      </div>
    )
  return (
    <div class="step note" {...shared}>
      {note !== undefined && <NoteCells note={note} />}
      {only !== undefined && (
        <>
          <span class="no">+</span>
          <span class="t">
            <span class="badge bad">{onlyText(only)}</span>
            <span class="nm">
              <Safe text={only.name} />
            </span>
          </span>
          <span class="ms">{only.kind}</span>
          <span class="sub">
            <Safe text={flat(text(only.t))} find={found.value} />
          </span>
        </>
      )}
    </div>
  )
}

/** `only now`, and how often. */
function onlyText(only: NonNullable<TimelineRow['only']>): string {
  const times = report().replay?.only.filter((one) => isAlike(one, only)).length ?? 1
  return times > 1 ? `only now, ${times} times` : 'only now'
}

function StepCells({ s }: { readonly s: ReportStep }) {
  const end = endOfRun()
  const hasLanes = report().run.steps.length > 1 && laneCount() > 1
  const began = isTimed.value ? `began ${offset(s.at)}` : 'time not recorded'
  return (
    <>
      <span class="no num">{s.no}</span>
      <span class="t">
        <span class={`badge ${s.kind}`}>{s.kind}</span>
        <span class="nm">
          <Safe text={s.name === '' ? 'unnamed' : s.name} />
        </span>
        <Badges s={s} />
      </span>
      <span class="ms num">
        {s.tok !== undefined && (
          <span class={isTimed.value ? 'tok' : ''}>
            {`${int((s.tok[0] ?? 0) + (s.tok[2] ?? 0))} tok${isTimed.value ? ' · ' : ''}`}
          </span>
        )}
        {isTimed.value && ms(s.took)}
      </span>
      <span class="sub">
        {hasLanes && (
          <b>
            <Safe text={s.lane} />{' '}
          </b>
        )}
        <Safe text={flat(preview(s))} find={found.value} />
      </span>
      <span
        class="track"
        title={plain(`${began}${s.par === undefined || !isTimed.value ? '' : `, beside ${s.par.join(', ')}`}`)}
      >
        <span
          class={`bar ${s.err === undefined ? s.kind : 'bad'}`}
          style={{ left: `${(placeOf(s) / end) * 100}%`, width: `${(widthOf(s) / end) * 100}%` }}
        />
      </span>
    </>
  )
}

const lanes = new WeakMap<object, number>()
function laneCount(): number {
  const { steps } = report().run
  const count = lanes.get(steps) ?? new Set(steps.map(({ lane }) => lane)).size
  lanes.set(steps, count)
  return count
}

const roleTitles = {
  origin: 'asked the same, answered otherwise',
  follows: 'was asked something else',
  chance: 'a failure of the network or provider',
  aside: '',
} as const

const replayColours = {
  served: 'ok',
  'parts here': 'bad',
  'asks otherwise': 'warn',
  skipped: 'bad',
  'not reached': '',
} as const

function Badges({ s }: { readonly s: ReportStep }) {
  const row = differing.value.get(s.no)
  const red = replayed(s.no)
  const isFirst = report().diff?.parts?.a === s.no
  return (
    <>
      {decidedSteps.value.has(s.no) && <span class="badge blame">decided</span>}
      {s.err !== undefined && <span class="badge bad">{(s.status ?? 0) >= 400 ? s.status : 'error'}</span>}
      {s.open && s.err === undefined && (
        <span class={`badge ${s.left ? '' : 'warn'}`}>{s.left ? 'not recorded' : 'no answer'}</span>
      )}
      {s.again !== undefined && <span class="badge warn">retry of {s.again}</span>}
      {row?.role !== undefined && (
        <span class={`badge ${isFirst ? 'bad' : 'warn'}`} title={roleTitles[row.role]}>
          {isFirst ? 'differs first' : 'differs'}
        </span>
      )}
      {red !== undefined && <span class={`badge ${replayColours[red]}`}>{red}</span>}
    </>
  )
}

function NoteCells({ note }: { readonly note: ReportNote }) {
  const { model } = note
  const name = note.kind === 'message' ? `${note.from ?? ''} → ${note.to ?? ''}` : (model?.name ?? note.name ?? '')
  const tokens = model?.tok
  return (
    <>
      <span class="no">·</span>
      <span class="t">
        <span class={`badge${model === undefined ? '' : ' model'}`}>{model === undefined ? note.kind : 'model'}</span>
        <span class="nm">
          <Safe text={name === '' ? 'unnamed' : name} />
        </span>
      </span>
      <span class="ms num">
        {tokens !== undefined ? `${int((tokens[0] ?? 0) + (tokens[2] ?? 0))} tok` : isTimed.value && offset(note.at)}
      </span>
      <span class="sub">
        <Safe
          text={model === undefined ? flat(text(note.t)) : [model.finish, model.error].filter(Boolean).join(': ')}
          find={found.value}
        />
      </span>
    </>
  )
}

/** Arguments in one line, so that the last are seen: of strings that others follow, the names go, and what is long. */
function shortArgs(args: string): string {
  if (args.length < 32) return args
  return args
    .slice(0, 2000)
    .replace(/(?:\w+: )?("(?:[^"\\]|\\.)*"), /g, (_, value) =>
      value.length > 16 ? `${value.slice(0, 9)}…", ` : `${value}, `,
    )
}

function preview(s: ReportStep): string {
  if (s.err !== undefined) return s.err
  if (s.calls !== undefined) return shortArgs(s.calls.map((call) => call.text).join(', '))
  if (s.said !== undefined) return text(s.said)
  if (s.args !== undefined)
    return `${flat(text(s.args))} → ${s.result === undefined ? 'not recorded' : flat(text(s.result))}`
  return s.raw === undefined ? '' : `${s.raw.m} ${s.raw.u}`
}
