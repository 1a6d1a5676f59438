import type { ReportNote, ReportStep } from '../view/types.ts'
import { clip, counted, int, plain } from './format.ts'
import { jump } from './scroll.ts'
import { decidedSteps, report, text } from './state.ts'

/** Names in messages that are roles of a conversation, and no agents. */
const roleNames = new Set(['user', 'model', 'assistant', 'agent', 'tool', 'environment', 'system'])
/** Events that are drawn: more are no picture. */
const maxDrawn = 400
const rowHeight = 46

interface Drawn {
  readonly n: number
  readonly s?: ReportStep
  readonly note?: ReportNote
}

function isBetweenAgents({ kind, from = '', to = '' }: ReportNote): boolean {
  return kind === 'message' && !roleNames.has(from) && !roleNames.has(to)
}

/** Agents from left to right, time down: a box is a step, an arrow a message. */
export function Agents() {
  const { run } = report()
  const messages = run.notes.filter(isBetweenAgents)
  const named = [...run.steps.map(({ lane }) => lane), ...messages.flatMap(({ from, to }) => [from, to])]
  const lanes = [...new Set(named.filter((name) => name !== undefined))]
  const events: readonly Drawn[] = [
    ...run.steps.map((s) => ({ n: s.n, s })),
    ...messages.map((note) => ({ n: note.n, note })),
  ].sort((one, other) => one.n - other.n)
  const drawn = events.slice(0, maxDrawn)
  const column = Math.max(170, Math.min(320, 1000 / Math.max(1, lanes.length)))
  const x = (lane: string | undefined): number => lanes.indexOf(lane ?? '') * column + column / 2
  const height = drawn.length * rowHeight + 60
  const label = `Sequence of ${drawn.length} events between ${lanes.join(', ')}`
  return (
    <main class="wide" tabIndex={0}>
      <section>
        <h2>{counted(lanes.length, 'agent')}</h2>
        <p class="soft">
          Each line is a conversation, told apart by its instructions.{' '}
          {messages.length > 0
            ? 'Arrows are the messages the program recorded.'
            : 'No messages between agents are on this tape.'}
          {events.length > maxDrawn &&
            ` The first ${int(maxDrawn)} of ${int(events.length)} events are drawn; the timeline has all.`}
        </p>
      </section>
      <svg width={column * lanes.length} height={height} role="img" aria-label={plain(label)}>
        <defs>
          <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
            <path d="M0 0L8 4L0 8z" fill="var(--soft)" />
          </marker>
        </defs>
        {lanes.map((lane) => (
          <>
            <text class="lane" x={x(lane)} y="16" text-anchor="middle">
              {clip(lane, column / 8)}
            </text>
            <line class="ax" x1={x(lane)} x2={x(lane)} y1="26" y2={height} />
          </>
        ))}
        {drawn.map(({ s, note }, index) => {
          const y = 40 + index * rowHeight
          if (s !== undefined) return <Box s={s} x={x(s.lane)} y={y} column={column} />
          return note && <Arrow note={note} from={x(note.from)} to={x(note.to)} y={y} />
        })}
      </svg>
      <table class="vh">
        <caption>Steps by agent</caption>
        <tbody>
          {drawn.map(
            ({ s }) =>
              s && (
                <tr>
                  <td>{plain(s.lane)}</td>
                  <td>
                    <button type="button" onClick={() => jump(s.no)}>
                      step {s.no} {plain(s.name)}
                    </button>
                  </td>
                </tr>
              ),
          )}
        </tbody>
      </table>
    </main>
  )
}

interface ArrowProps {
  readonly note: ReportNote
  readonly from: number
  readonly to: number
  readonly y: number
}

function Arrow({ note, from, to, y }: ArrowProps) {
  const said = text(note.t)
  return (
    <g>
      <title>{plain(said.slice(0, 2000))}</title>
      <line
        x1={from}
        x2={to + (to > from ? -2 : 2)}
        y1={y + 16}
        y2={y + 16}
        stroke="var(--soft)"
        stroke-width="1.5"
        marker-end="url(#arrow)"
      />
      <text x={(from + to) / 2} y={y + 10} text-anchor="middle">
        {clip(said, Math.max(12, Math.abs(to - from) / 6.2))}
      </text>
    </g>
  )
}

interface BoxProps {
  readonly s: ReportStep
  readonly x: number
  readonly y: number
  readonly column: number
}

function Box({ s, x, y, column }: BoxProps) {
  const isDecided = decidedSteps.value.has(s.no)
  const colour = s.err !== undefined ? 'bad' : ['model', 'tool', 'retrieval'].includes(s.kind) ? s.kind : 'http'
  const calls = s.calls?.map((call) => call.text).join(', ')
  const below = s.err ?? calls ?? text(s.said ?? s.args)
  const ink = { fill: `var(--${colour})` }
  return (
    <g class="box" onClick={() => jump(s.no)}>
      <rect
        x={x - column / 2 + 10}
        y={y}
        width={column - 20}
        height="34"
        rx="6"
        fill={`var(--${colour}-bg)`}
        stroke={isDecided ? 'var(--blame)' : 'none'}
        stroke-width="2"
      />
      <text class="strong" x={x - column / 2 + 20} y={y + 14} style={ink}>
        {clip(`${s.no}  ${s.name}${s.again === undefined ? '' : ` (retry of ${s.again})`}`, (column - 40) / 6.6)}
      </text>
      <text x={x - column / 2 + 20} y={y + 28} style={ink}>
        {clip(below, (column - 40) / 6.4)}
      </text>
      {isDecided && (
        <text class="strong" x={x + column / 2 - 16} y={y + 14} text-anchor="end" style={{ fill: 'var(--blame)' }}>
          decided
        </text>
      )}
    </g>
  )
}
