import type { ReportData, ReportDiff } from '../view/types.ts'
import { clip, counted, ms } from './format.ts'
import { jump } from './scroll.ts'
import { isTimed, isTimedRun, report } from './state.ts'
import { Diff, Safe, Two } from './text.tsx'

type DiffRow = ReportDiff['steps'][number]

const roles = {
  origin: ['warn', 'other answer'],
  follows: ['', 'follows'],
  chance: ['', 'chance'],
  aside: ['', ''],
} as const

/** Where two runs part, and what follows from it. */
export function Compare() {
  const { run, other, diff } = report()
  if (other === undefined || diff === undefined)
    return (
      <main class="wide">
        <div class="empty">
          Only one run is in this report.
          <code>npx vitest-harvest report {run.word} --against CASE -o run.html</code>
        </div>
      </main>
    )
  return (
    <main class="wide" tabIndex={0}>
      <Parting />
      <section>
        <h3 class="sect">Step by step</h3>
        <table class="cmp">
          <thead>
            <tr>
              <th class="num">this</th>
              <th class="num">other</th>
              <th>kind</th>
              <th>name</th>
              <th>differs in</th>
              <th>role</th>
              <th class="num">took</th>
              <th class="num">other took</th>
            </tr>
          </thead>
          <tbody>
            {diff.steps.map((row) => (
              <StepRowLine row={row} />
            ))}
          </tbody>
        </table>
      </section>
      <Facts />
    </main>
  )
}

function partsAt({ parts, steps }: ReportDiff): DiffRow | undefined {
  return parts === null ? undefined : steps.find(({ a, b }) => a === parts.a && b === parts.b)
}

function Parting() {
  const { run, other, diff } = report() as Required<ReportData>
  const first = partsAt(diff)
  const follows = diff.steps.filter((row) => row.role === 'follows' && row !== first).length
  const chance = diff.steps.filter(({ role, a }) => role === 'chance' && a !== undefined)
  const root = first?.differences.find((one) => one.class === 'answer') ?? first?.differences[0]
  return (
    <section>
      <h2>
        {first === undefined
          ? diff.same
            ? 'The two runs are the same'
            : 'The two runs end otherwise, and no step says why'
          : first.a === undefined
            ? `The runs part at step ${first.b} of the other run`
            : `The runs part at step ${first.a}`}
      </h2>
      <p class="soft gap">
        {first?.role === 'origin' && `Step ${first.a} was asked the same and answered differently. `}
        {first?.role === 'follows' && `Step ${first.a} was asked something else. `}
        {first !== undefined && first.role === undefined && 'Only one of the runs has this step. '}
        {first !== undefined &&
          follows > 0 &&
          `${counted(follows, 'step')} ${follows === 1 ? 'was' : 'were'} asked something else after it. `}
        {chance.length > 0 && `Step ${chance.map(({ a }) => a).join(', ')} met a failure that the other run did not.`}
      </p>
      {root !== undefined && first?.a !== undefined && (
        <section class="diff">
          <header>
            <span class="badge warn">{root.class}</span>
            <b>step {first.a}</b>
            <span class="mono">
              <Safe text={root.path} />
            </span>
            <span class="grow" />
            <button type="button" class="more" onClick={() => jump(first.a ?? 1, 'other')}>
              open
            </button>
          </header>
          <Two a={root.a} b={root.b} titles={[`this run (${clip(run.id, 24)})`, `other run (${clip(other.id, 24)})`]} />
        </section>
      )}
    </section>
  )
}

function StepRowLine({ row }: { readonly row: DiffRow }) {
  const { run, other, diff } = report()
  const { a, b, kind, name, differences, role } = row
  const isFirst = diff?.parts?.a === a && diff?.parts?.b === b && diff?.parts !== null
  const [one, twin] = [
    a === undefined ? undefined : run.steps[a - 1],
    b === undefined ? undefined : other?.steps[b - 1],
  ]
  const open = (): void => {
    if (a !== undefined) jump(a, 'other')
  }
  const classes = [...new Set(differences.map((difference) => difference.class))]
  const [colour, word] = role === undefined ? (['', ''] as const) : roles[role]
  return (
    <tr class={`go${isFirst ? ' hot' : ''}`} onClick={open}>
      <td class="num">{a ?? 'none'}</td>
      <td class="num">{b ?? 'none'}</td>
      <td>
        <span class={`badge ${kind}`}>{kind}</span>
      </td>
      <td>
        {a === undefined ? (
          <Safe text={name} />
        ) : (
          <button type="button" class="more" onClick={open}>
            <Safe text={name === '' ? 'unnamed' : name} />
          </button>
        )}
      </td>
      <td class={classes.length === 0 ? 'same' : ''}>
        {classes.length > 0
          ? classes.map((one) => (
              <>
                <span class={`badge${one === 'endpoint' || one === 'headers' ? '' : ' warn'} aside`}>{one}</span>{' '}
              </>
            ))
          : a !== undefined && b !== undefined
            ? 'the same'
            : a === undefined
              ? 'only in the other'
              : 'only in this run'}
      </td>
      <td>
        {isFirst ? (
          <span class="badge bad">parts here</span>
        ) : (
          word !== '' && <span class={`badge ${colour}`}>{word}</span>
        )}
      </td>
      <td class="num">{one === undefined ? 'none' : isTimed.value ? ms(one.took) : 'not recorded'}</td>
      <td class="num">{twin === undefined ? 'none' : isTimedRun(other) ? ms(twin.took) : 'not recorded'}</td>
    </tr>
  )
}

function Facts() {
  const { diff } = report()
  const outcome = {
    what: 'outcome',
    a: diff?.outcome.a ?? '',
    b: diff?.outcome.b ?? '',
    same: diff?.outcome.same === true,
  }
  return (
    <section>
      <h3 class="sect">The runs</h3>
      <table class="cmp">
        <thead>
          <tr>
            <th>fact</th>
            <th>this run</th>
            <th>other run</th>
          </tr>
        </thead>
        <tbody>
          {[outcome, ...(diff?.facts ?? [])].map(({ what, a, b, same }) => (
            <tr class={same ? 'same' : ''}>
              <th scope="row">{what}</th>
              <td class="wraps">
                <Safe text={a} />
              </td>
              <td class="wraps">
                {same || a.length + b.length < 60 ? <Safe text={b} /> : <Diff a={a} b={b} byWords />}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
