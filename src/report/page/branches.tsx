import type { ReportForks } from '../view/types.ts'
import { clip, int, percent, plain } from './format.ts'
import { jump } from './scroll.ts'
import { decidedSteps, report, text, whyNotRerun } from './state.ts'
import { Safe } from './text.tsx'

const width = 1000
/** Room for how a run ended. */
const endRoom = 240
const rowHeight = 44

const colourOf = (grade: string | null): string =>
  grade === 'ok' ? 'ok' : grade === null ? 'http' : grade === 'bad' ? 'bad' : 'warn'

/** What would have changed the run: where forks leave it, what they said there, how they ended. */
export function Branches() {
  const { forks, moreForks = [], run } = report()
  if (forks === undefined)
    return (
      <main class="wide">
        <div class="empty">
          No branches of this run are in this report.
          {whyNotRerun() ?? <code>npx vitest-harvest fork {run.word} --step N --live --save</code>}
        </div>
      </main>
    )
  return (
    <main class="wide" tabIndex={0}>
      <h2>What would have changed it?</h2>
      {[forks, ...moreForks].map((plan) => (
        <Plan plan={plan} />
      ))}
    </main>
  )
}

function Plan({ plan }: { readonly plan: ReportForks }) {
  const { keep, branches, changed, tail, judged, asRecorded, interval, grades, gradedBy } = plan
  return (
    <section>
      <h3 class="sect">
        {int(branches.length)} {branches.length === 1 ? 'branch leaves' : 'branches leave'} at step {keep + 1}
      </h3>
      <p class="soft gap">
        {keep === 0 ? 'Nothing is replayed' : `Steps 1 to ${keep} are replayed`}; then <Safe text={tail} />.{' '}
        {changed.length > 0 && (
          <>
            Changed: <Safe text={changed.join('; ')} />.{' '}
          </>
        )}
        {grades !== undefined && `Of these branches ${grades['ok'] ?? 0} of ${judged} end well. `}
        {asRecorded === null
          ? 'Outcomes are not compared: the import did not see the recorded one.'
          : `${asRecorded} of ${judged} end as recorded`}
        {interval !== undefined &&
          ` (95 % interval of that share, for display: ${percent(interval.low)} to ${percent(interval.high)})`}
        {asRecorded !== null && '. '}
        {gradedBy === null ? (
          'Not graded: forked without --ok or --oracle.'
        ) : (
          <>
            Graded by{' '}
            <code>
              <Safe text={gradedBy} />
            </code>
            .
          </>
        )}
      </p>
      <Tree plan={plan} />
      <BranchTable plan={plan} />
    </section>
  )
}

function Tree({ plan: { keep, branches } }: { readonly plan: ReportForks }) {
  const { run, blame } = report()
  const count = Math.max(1, run.steps.length)
  const x = (no: number): number => 20 + (no / count) * (width - endRoom - 20)
  const height = (branches.length + 1) * rowHeight + 20
  // Steps of a long run stand too near each other to be drawn one by one.
  const dots = run.steps.filter(({ no }) => count <= 120 || no === keep + 1 || decidedSteps.value.has(no))
  const recorded = blame?.recorded === undefined ? 'recorded' : `recorded: ${blame.recorded}`
  return (
    <svg
      class="tree"
      viewBox={`0 0 ${width} ${height}`}
      width="100%"
      role="img"
      aria-label={`Tree of ${branches.length} branches`}
    >
      <line x1={x(0)} x2={x(count)} y1="22" y2="22" stroke="var(--ink)" stroke-width="2" />
      {dots.map((s) => (
        <circle
          cx={x(s.no)}
          cy="22"
          r={decidedSteps.value.has(s.no) ? 6 : 4}
          fill={decidedSteps.value.has(s.no) ? 'var(--blame)' : 'var(--panel)'}
          stroke="var(--ink)"
          stroke-width="1.5"
          onClick={() => jump(s.no)}
        >
          <title>{plain(`step ${s.no} ${s.name}`)}</title>
        </circle>
      ))}
      <text class="strong" x={x(count) + 12} y="20">
        {recorded}
      </text>
      <text x={x(count) + 12} y="34">
        {clip(text(run.outcome?.t), 38)}
      </text>
      {branches.map((branch, index) => {
        const y = 66 + index * rowHeight
        const colour = `var(--${colourOf(branch.grade)})`
        const room = Math.max(10, (x(count) - x(keep) - 60) / 5.6)
        return (
          <g>
            <path
              d={`M${x(keep)} 22C${x(keep) + 30} 22 ${x(keep) + 10} ${y} ${x(keep) + 44} ${y}H${Math.max(x(count), x(keep) + 44)}`}
              fill="none"
              stroke={colour}
              stroke-width="2"
            />
            <circle cx={x(count)} cy={y} r="4" fill={colour} />
            {branch.first !== undefined && (
              <circle cx={x(Math.min(branch.first.step, count))} cy={y} r="3" fill={colour} />
            )}
            <text x={x(keep) + 52} y={y - 6}>
              {branch.first !== undefined && clip(`step ${branch.first.step}: ${text(branch.first.after)}`, room)}
            </text>
            <text class="strong" x={x(count) + 12} y={y - 2} style={{ fill: colour }}>
              {branch.grade ?? 'not graded'}
            </text>
            <text x={x(count) + 12} y={y + 12}>
              {clip(text(branch.outcome), 38)}
            </text>
          </g>
        )
      })}
    </svg>
  )
}

function BranchTable({ plan: { branches } }: { readonly plan: ReportForks }) {
  return (
    <table>
      <thead>
        <tr>
          <th>seed</th>
          <th>ends</th>
          <th>outcome</th>
          <th>first difference</th>
          <th>recorded</th>
          <th>branch</th>
          <th>tape</th>
        </tr>
      </thead>
      <tbody>
        {branches.map(({ seed, grade, outcome, first, file }) => (
          <tr>
            <td class="num">
              <Safe text={seed} />
            </td>
            <td>
              <span class={`badge ${colourOf(grade)}`}>{grade ?? 'not graded'}</span>
            </td>
            <td class="wraps">
              {outcome === undefined ? 'could not be judged' : <Safe text={text(outcome).slice(0, 400)} />}
            </td>
            <td>
              {first === undefined ? (
                'none'
              ) : (
                <button type="button" class="more" onClick={() => jump(first.step)}>
                  step {first.step}
                </button>
              )}
            </td>
            <td class="wraps">{first === undefined ? 'the same' : <Safe text={text(first.before).slice(0, 400)} />}</td>
            <td class="wraps">{first === undefined ? 'the same' : <Safe text={text(first.after).slice(0, 400)} />}</td>
            <td class="mono wraps">
              {file === undefined ? 'not saved' : <Safe text={file.split('/').at(-1) ?? file} />}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
