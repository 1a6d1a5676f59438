import type { ReportStep } from '../view/types.ts'
import { clip, counted, ms, plain } from './format.ts'
import { go } from './scroll.ts'
import { current, decidedSteps, isTimed, report } from './state.ts'

const width = 400
const laneHeight = 13
/** Lanes that have a line of their own. */
const maxLanes = 6

/** Where a step begins: in milliseconds, or by its number where no times were recorded. */
export function placeOf(s: ReportStep): number {
  return isTimed.value ? s.at : s.no - 1
}

export function widthOf(s: ReportStep): number {
  return isTimed.value ? (s.took ?? 0) : 0.8
}

const ends = new WeakMap<object, number>()
/** The end of the run, in the measure of {@link placeOf}. */
export function endOfRun(): number {
  const { steps } = report().run
  if (!isTimed.value) return Math.max(1, steps.length)
  let end = ends.get(steps)
  if (end === undefined) {
    end = Math.max(1, report().run.took ?? 0)
    // One by one: a list of 130,000 arguments is too long for Math.max.
    for (const s of steps) end = Math.max(end, s.at + (s.took ?? 0))
    ends.set(steps, end)
  }
  return end
}

interface Drawing {
  /** One path for each colour, regardless of the number of steps. */
  readonly paths: Readonly<Record<string, string>>
  readonly lanes: readonly string[]
  readonly height: number
}

const drawings = new WeakMap<object, Drawing>()

function draw(): Drawing {
  const { steps } = report().run
  const known = drawings.get(steps)
  if (known !== undefined) return known
  const end = endOfRun()
  const lanes = [...new Set(steps.map(({ lane = '' }) => lane))]
  const paths: Record<string, string[]> = {}
  const seen = new Set<string>()
  for (const s of steps) {
    const x = Number(((placeOf(s) / end) * width).toFixed(1))
    const wide = Number(Math.max(1.5, (widthOf(s) / end) * width).toFixed(1))
    const row = Math.min(maxLanes - 1, lanes.indexOf(s.lane))
    const colour = s.err !== undefined ? 'bad' : ['model', 'tool', 'retrieval'].includes(s.kind) ? s.kind : 'http'
    const cell = `${colour}${row}|${Math.round(x)}|${Math.round(wide)}`
    if (seen.has(cell)) continue
    seen.add(cell)
    ;(paths[colour] ??= []).push(`M${x} ${row * laneHeight + 3}h${wide}v8h-${wide}z`)
  }
  const drawing = {
    paths: Object.fromEntries(Object.entries(paths).map(([colour, parts]) => [colour, parts.join('')])),
    lanes,
    height: Math.min(maxLanes, Math.max(1, lanes.length)) * laneHeight + 4,
  }
  drawings.set(steps, drawing)
  return drawing
}

function Cursor({ height }: { readonly height: number }) {
  const row = current.value
  if (row === undefined) return null
  const at = isTimed.value ? row.at : report().run.steps.filter(({ n }) => n < row.n).length
  return <rect x={(at / endOfRun()) * width - 0.6} y="0" width="1.2" height={height} fill="var(--selline)" />
}

/** The whole run in a strip: a line for each agent, what ran beside what, and where it was decided. */
export function Overview() {
  const { steps } = report().run
  const { paths, lanes, height } = draw()
  const end = endOfRun()
  const pick = (event: MouseEvent & { readonly currentTarget: SVGSVGElement }): void => {
    const box = event.currentTarget.getBoundingClientRect()
    const at = ((event.clientX - box.left) / box.width) * end
    let best = steps[0]
    for (const s of steps) if (best !== undefined && Math.abs(placeOf(s) - at) < Math.abs(placeOf(best) - at)) best = s
    if (best !== undefined) go(best.no)
  }
  const named = lanes.slice(0, maxLanes).map((lane) => clip(lane, 40))
  const label = `${counted(steps.length, 'step')} of ${counted(lanes.length, 'agent')}${isTimed.value ? ` in ${ms(end)}` : ''}`
  return (
    <div class="over">
      <svg
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="none"
        height={height}
        role="img"
        aria-label={plain(label)}
        onClick={pick}
      >
        {Object.entries(paths).map(([colour, path]) => (
          <path d={path} fill={`var(--${colour})`} />
        ))}
        {[...decidedSteps.value].map((no) => {
          const s = steps[no - 1]
          return s && <path d={`M${(placeOf(s) / end) * width - 3} 0h6l-3 4z`} fill="var(--blame)" />
        })}
        <Cursor height={height} />
      </svg>
      <div class="row faint scale">
        <span>{isTimed.value ? '0' : ''}</span>
        <span class="grow cut">{lanes.length > 1 ? `top to bottom: ${named.join(', ')}` : ''}</span>
        <span class="num">{isTimed.value ? ms(end) : 'times not recorded: in order'}</span>
      </div>
    </div>
  )
}
