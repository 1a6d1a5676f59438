// Over 300 lines: one chart with its table.
import type { ReportBlame, ReportCommitment } from '../view/types.ts'
import { counted, finePercent, int, percent, plain, pretty, usd } from './format.ts'
import { go } from './scroll.ts'
import { current, decided, report, text, whyNotRerun } from './state.ts'
import { Safe, Text } from './text.tsx'

type Position = ReportBlame['steps'][number]

/** Runs that are enough for a point to be joined with others: one lucky run draws a spike. */
const enoughRuns = 5

export const runsOf = ({ resampled }: Position): number =>
  resampled === undefined ? 0 : resampled.ok + resampled.failed
const isEnough = (position: Position): boolean => position.sequence === undefined || runsOf(position) >= enoughRuns

/** `step 9`, `steps 4, 5`. */
export function stepsText({ steps }: { readonly steps: readonly number[] }): string {
  return `${steps.length > 1 ? 'steps' : 'step'} ${steps.join(', ')}`
}

export function capital(value: string): string {
  return value.slice(0, 1).toUpperCase() + value.slice(1)
}

const ownDraws = "what the agent's own code draws or reads "

/** What decided: the answer of a position, what the code draws about it, or one of the two. */
export function whatDecided({ how, isDrawn, codeAlone }: ReportCommitment, position: Position): string {
  const steps = stepsText(position)
  if (how === 'draws') return capital(`${ownDraws}from ${steps} on`)
  if (isDrawn === true)
    return capital(position.isExogenous ? `${ownDraws}before ${steps}` : `what came behind ${steps}`)
  const other = (codeAlone?.unknown ?? 0) > 0 ? `, or ${ownDraws}before it,` : ''
  return capital(steps) + other
}

const [width, height] = [320, 150]
const [left, right, top, bottom] = [38, 8, 8, 24]

/** The share of runs that end well when everything from a step on is resampled, with its interval. */
function Curve({ blame: { steps } }: { readonly blame: ReportBlame }) {
  const wide = (width - left - right) / steps.length
  const x = (index: number): number => left + (index + 0.5) * wide
  const y = (value: number): number => top + (1 - value) * (height - top - bottom)
  const known = steps.flatMap((position, index) =>
    position.value === undefined ? [] : [{ position, index, value: position.value }],
  )
  const told = known.map(({ position, value }) => {
    const { sequence } = position
    return `${stepsText(position)}: ${percent(value)}${sequence === undefined ? '' : ` (${percent(sequence.low)} to ${percent(sequence.high)})`}`
  })
  const joined = known.filter(({ position }) => isEnough(position))
  const every = Math.ceil(steps.length / 12)
  return (
    <figure>
      <svg
        viewBox={`0 0 ${width} ${height}`}
        width="100%"
        role="img"
        aria-label={plain(`Share of runs that end well when resampled from a step on. ${told.join('; ')}`)}
      >
        {[0, 0.5, 1].map((value) => (
          <>
            <line class="gr" x1={left} x2={width - right} y1={y(value)} y2={y(value)} />
            <text x={left - 5} y={y(value) + 4} text-anchor="end">{`${value * 100}%`}</text>
          </>
        ))}
        {decided.value.map(({ commitment }) => (
          <rect
            x={x(commitment.position) - wide / 2}
            y={top}
            width={wide}
            height={height - top - bottom}
            fill="var(--blame-bg)"
          />
        ))}
        {known.map(({ position, index }) => {
          const { sequence } = position
          if (sequence === undefined) return null
          const [low, high] = [y(sequence.low), y(sequence.high)]
          return (
            <path
              d={`M${x(index)} ${low}V${high}M${x(index) - 3} ${low}h6M${x(index) - 3} ${high}h6`}
              stroke="var(--soft)"
              stroke-width="1.5"
              opacity={isEnough(position) ? 1 : 0.45}
            />
          )
        })}
        <polyline
          fill="none"
          stroke="var(--blame)"
          stroke-width="2"
          points={joined.map(({ index, value }) => `${x(index)},${y(value)}`).join(' ')}
        />
        {known.map(({ position, index, value }) => (
          <circle
            cx={x(index)}
            cy={y(value)}
            r={position.commitment === undefined ? 3.5 : 5}
            fill={position.commitment === undefined ? 'var(--panel)' : 'var(--blame)'}
            stroke={isEnough(position) ? 'var(--blame)' : 'var(--faint)'}
            stroke-width="1.5"
            onClick={() => go(position.steps[0] ?? 1)}
          >
            <title>{`${stepsText(position)}: ${position.resampled?.ok ?? 0} of ${runsOf(position)} end well`}</title>
          </circle>
        ))}
        {steps.map(
          (position, index) =>
            (steps.length < 20 || index % every === 0) && (
              <text x={x(index)} y={height - 8} text-anchor="middle">
                {position.steps.length > 2 ? `${position.steps[0]}–${position.steps.at(-1)}` : position.steps.join(',')}
              </text>
            ),
        )}
      </svg>
      <figcaption class="faint small">
        replayed up to a step, resampled from it on: share of runs that end well, 95 % at any time; grey: fewer than{' '}
        {enoughRuns} runs
      </figcaption>
    </figure>
  )
}

const verdicts: Readonly<Record<string, string>> = {
  never: 'No step: it fails from the start',
  doubted: 'No run is known to be good',
  diffuse: 'No single step',
  unresolved: 'Not resolved yet',
  undecidable: 'Undecidable',
  unsure: 'The oracle disagrees with itself',
}

/** Which step decided, how sure that is, and what is on the tape. */
export function Blame() {
  const { blame } = report()
  return (
    <>
      <h2>Which step decided?</h2>
      {blame === undefined ? <NotAsked /> : <Asked blame={blame} />}
      <Boundary />
    </>
  )
}

function NotAsked() {
  const { run } = report()
  const why = whyNotRerun()
  if (why !== undefined) return <div class="empty top">Not known.{why}</div>
  return (
    <div class="empty top">
      Not asked yet. Blame replays the first steps, resamples the rest, and counts how many runs end well.
      <code>npx vitest-harvest blame {run.word} --ok "…" --live --max-cost 0.50</code>
    </div>
  )
}

function Asked({ blame }: { readonly blame: ReportBlame }) {
  const hits = decided.value
  const hasColumns = blame.steps.some(
    ({ isNecessary, isResponsible }) => isNecessary !== undefined || isResponsible !== undefined,
  )
  return (
    <>
      {hits.map(({ commitment, position }) => (
        <div>
          <p class="big">{whatDecided(commitment, position)}</p>
          <p>
            <Shares hit={{ commitment, position }} />
          </p>
          <How commitment={commitment} delta={blame.delta} />
        </div>
      ))}
      {blame.earlier?.map((commitment) => {
        const position = blame.steps[commitment.position]!
        return (
          <div>
            <p class="big">{whatDecided(commitment, position)}, was necessary too</p>
            <p>
              All of these with {commitment.held.map((later) => stepsText(blame.steps[later]!)).join(' and ')} as
              recorded. <Shares hit={{ commitment, position }} />
            </p>
            <How commitment={commitment} delta={blame.delta} />
          </div>
        )
      })}
      {hits.length === 0 && (
        <p class="big">
          {verdicts[blame.verdict?.how ?? ''] ??
            verdicts[blame.verdict?.kind ?? ''] ??
            'Not asked: only answers were mutated'}
        </p>
      )}
      <h3>Chance to end well</h3>
      <Curve blame={blame} />
      <h3>What replaying a step loses</h3>
      <p class="faint small">
        How far the share that ends well falls when the step is replayed as well: 1 is all of it, 0 nothing. A step
        without a row was not tried, or there are no runs to compare it with.
      </p>
      <Ranking blame={blame} />
      {hasColumns && (
        <>
          <h3>Causes among the answers</h3>
          <Columns blame={blame} />
        </>
      )}
      <h3>How sure, at what price</h3>
      <dl class="kv">
        <dt>graded by</dt>
        <dd class="mono">
          <Safe text={blame.gradedBy} />
        </dd>
        <dt>spent</dt>
        <dd class="num">
          {int(blame.spent.forks)} forks, {int(blame.spent.modelCalls)} model calls, {usd(blame.spent.costUsd)}
        </dd>
        <dt>confidence</dt>
        <dd>
          {finePercent(1 - blame.delta)}, for all claims of this page together. A claim: the shares that end well differ
          by more than {finePercent(blame.tau / 2)}
        </dd>
        <dt>meaning</dt>
        <dd>the effect of resampling a step in new runs</dd>
      </dl>
      <details>
        <summary class="soft small">Methods</summary>
        <dl class="kv">
          {Object.entries(blame.methods).map(([name, method]) => (
            <>
              <dt class="mono">{name}</dt>
              <dd>{method}</dd>
            </>
          ))}
        </dl>
      </details>
    </>
  )
}

/** How a claim is known, and how often such a claim may be wrong. */
function How({ commitment: { how, alpha }, delta }: { readonly commitment: ReportCommitment; readonly delta: number }) {
  if (how === 'draws') return <p class="soft">No one answer decided.</p>
  return (
    <p class="soft">
      <span class="badge blame">{how}</span>{' '}
      {alpha === undefined
        ? 'what is resampled comes out the same each time: no interval'
        : `wrong at most ${finePercent(alpha)} of the time: this claim. All claims of this page together: ${finePercent(delta)}`}
    </p>
  )
}

/** The counts behind a claim, in words. */
export function Shares({ hit: { commitment, position } }: { readonly hit: (typeof decided.value)[number] }) {
  const { kept, resampled, how, codeAlone } = commitment
  if (how === 'draws' && codeAlone !== undefined)
    return (
      <>
        With every answer as recorded,{' '}
        <b class="num">
          {codeAlone.ok} of {codeAlone.ok + codeAlone.bad}
        </b>{' '}
        runs end well: by random numbers, ids, the clock, module state.
      </>
    )
  const [these, them] = position.steps.length > 1 ? ['these steps', 'them'] : ['this step', 'it']
  return (
    <>
      With {these} as recorded (replayed),{' '}
      <b class="num">
        {kept.ok} of {kept.forks}
      </b>{' '}
      runs end well; with {them} asked again (resampled),{' '}
      <b class="num">
        {resampled.ok} of {resampled.forks}
      </b>{' '}
      do.
    </>
  )
}

function Ranking({ blame }: { readonly blame: ReportBlame }) {
  const here = current.value?.s?.no
  const rank = ({ commitment, drop = 0 }: Position): number =>
    drop + (commitment === 'certified' || commitment === 'exact' ? 2 : 0)
  const ranked = blame.steps.filter(({ drop }) => drop !== undefined).sort((one, other) => rank(other) - rank(one))
  const isWeak = (position: Position): boolean => position.commitment === undefined && !isEnough(position)
  return (
    <table>
      <caption class="vh">Steps ranked by the drop of the chance to end well</caption>
      <thead>
        <tr>
          <th>step</th>
          <th class="lines">share that ends well, lost by keeping the step</th>
          <th class="num">95 % interval</th>
          <th class="num">runs</th>
        </tr>
      </thead>
      <tbody>
        {ranked.map((position) => (
          <tr
            class={`go${position.commitment === undefined ? '' : ' hot'}${isWeak(position) ? ' faint' : ''}${position.steps.includes(here ?? 0) ? ' on' : ''}`}
            onClick={() => go(position.steps[0] ?? 1)}
          >
            <td>
              <button type="button" class="more" onClick={() => go(position.steps[0] ?? 1)}>
                {position.steps.join(', ')}
              </button>
            </td>
            <td>{isWeak(position) ? 'too few runs to say' : <DropRange position={position} />}</td>
            <td class="num">
              {position.display === undefined
                ? 'exact'
                : `${position.display.low.toFixed(2)} to ${position.display.high.toFixed(2)}`}
            </td>
            <td class="num">{runsOf(position)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function DropRange({ position: { drop = 0, display, commitment } }: { readonly position: Position }) {
  const wide = 76
  const x = (value: number): number => ((value + 1) / 2) * wide
  const colour = commitment === undefined ? 'var(--soft)' : 'var(--blame)'
  return (
    <svg width={wide} height="14" role="img" aria-label={drop.toFixed(2)}>
      <line class="ax" x1={x(0)} x2={x(0)} y1="0" y2="14" />
      {display !== undefined && (
        <rect
          x={x(display.low)}
          y="5"
          width={Math.max(1, x(display.high) - x(display.low))}
          height="4"
          rx="2"
          fill={colour}
          opacity=".38"
        />
      )}
      <circle cx={x(drop)} cy="7" r="3.5" fill={colour} />
    </svg>
  )
}

const columns = ['isNecessary', 'isSufficient', 'isInRepairSet', 'isResponsible'] as const

function Columns({ blame }: { readonly blame: ReportBlame }) {
  const asked = blame.steps.filter((position) => columns.some((name) => position[name] !== undefined))
  return (
    <table>
      <thead>
        <tr>
          <th>step</th>
          <th>necessary</th>
          <th>sufficient</th>
          <th>repair set</th>
          <th>responsible</th>
        </tr>
      </thead>
      <tbody>
        {asked.map((position) => (
          <tr>
            <td>{position.steps.join(', ')}</td>
            {columns.map((name) => (
              <td>
                {position[name] === undefined ? <span class="faint">not asked</span> : position[name] ? 'yes' : 'no'}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** What the tape holds and what it does not, in one place. */
function Boundary() {
  const { run, cut } = report()
  const { imported, parent, steps, case: found } = run
  const isDerived = steps.some(({ lane, again }) => again !== undefined || lane !== steps[0]?.lane)
  return (
    <>
      <h3>What is on this tape</h3>
      <div class="card">
        {imported === undefined ? (
          <p>
            <span class="badge ok">recorded, byte for byte</span>
          </p>
        ) : (
          <p>
            <span class="badge warn">imported, {imported.grade}</span>
          </p>
        )}
        <p class="soft">
          {imported === undefined
            ? `${counted(run.reads, 'read')} of clock and random. `
            : `Made of a ${imported.format} recording, which does not hold: ${imported.missing.join(', ') || 'nothing it should'}. Nothing is put in its place. `}
          {run.truncated ? 'Truncated: its last line is missing. ' : 'Closed, and every line checked. '}
          {run.cuts > 0 && `Partial: ${int(run.cuts)} bodies are cut on the tape. `}
          {cut !== undefined && `${int(cut.texts)} long texts are cut in this report. `}
          This page shows no more than the tape.
        </p>
      </div>
      <dl class="kv top">
        {found !== undefined && (
          <>
            <dt>case</dt>
            <dd>
              <Safe
                text={`${found.id}, expected to ${found.expect}${found.title === undefined ? '' : `: ${found.title}`}`}
              />
            </dd>
          </>
        )}
        <dt>input</dt>
        <dd>{run.input === undefined ? 'not recorded' : <Text text={pretty(text(run.input))} lines={6} />}</dd>
        <dt>outcome</dt>
        <dd>
          {run.outcome === undefined || run.outcome.status === 'unknown' ? (
            'not recorded'
          ) : (
            <Text text={text(run.outcome.t)} lines={6} />
          )}
        </dd>
        <dt>tape</dt>
        <dd class="mono">
          <Safe text={run.file} />
        </dd>
        {parent !== undefined && (
          <>
            <dt>branch of</dt>
            <dd class="mono">
              <Safe text={parent.id} />, {counted(parent.keep, 'step')} replayed
            </dd>
          </>
        )}
        <dt>digest</dt>
        <dd class="mono">{run.digest}</dd>
        <dt>commit</dt>
        <dd class="mono">
          <Safe text={run.pins.commit ?? 'unknown'} />
          {run.pins.dirty ? ' with uncommitted changes' : ''}
        </dd>
        <dt>recorded by</dt>
        <dd>
          <Safe text={run.made} />
        </dd>
        {isDerived && (
          <>
            <dt>agents</dt>
            <dd>
              conversations are told apart by their instructions, retries by their request: a tape records neither
            </dd>
          </>
        )}
      </dl>
    </>
  )
}
