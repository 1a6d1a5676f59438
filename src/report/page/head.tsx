import { useEffect, useRef } from 'preact/hooks'
import { Shares, whatDecided } from './blame.tsx'
import { Search, Theme } from './controls.tsx'
import { clip, flat, int, ms, plain, usd } from './format.ts'
import { go, jump } from './scroll.ts'
import { cutOffAt, decided, help, report, tab, text, view } from './state.ts'
import { Safe } from './text.tsx'

const views = { run: 'Run', compare: 'Compare', agents: 'Agents', branches: 'Branches' } as const

function Tabs() {
  return (
    <nav aria-label="Views">
      <div class="tabs">
        {Object.entries(views).map(([name, title]) => (
          <button
            type="button"
            {...(view.value === name ? { 'aria-current': 'page' as const } : {})}
            onClick={() => (view.value = name)}
          >
            {title}
          </button>
        ))}
      </div>
    </nav>
  )
}

/** What a run was, in one line. */
export function Head() {
  const { run, blame } = report()
  const isMissing = (word: string): boolean => run.imported?.missing.includes(word) === true
  return (
    <header class="head">
      <h1>
        <Safe text={run.agent} />
      </h1>
      {blame !== undefined && (
        <>
          <span
            class={`badge ${blame.recorded === 'ok' ? 'ok' : 'bad'}`}
            title={plain(`by ${blame.gradedBy.slice(0, 400)}`)}
          >
            {blame.recorded}
          </span>
          <span class="faint by">
            by <Safe text={clip(blame.gradedBy, 32)} />
          </span>
        </>
      )}
      {run.truncated && <span class="badge bad">truncated</span>}
      {run.outcome !== undefined && !isMissing('outcome') && (
        <span class={`badge${run.outcome.status === 'threw' ? ' bad' : ''}`}>{run.outcome.status}</span>
      )}
      {run.imported !== undefined && <span class="badge warn">{run.imported.grade}</span>}
      <div class="facts top grow">
        <span class="num">
          {isMissing('start') ? 'start not recorded' : run.startedAt.replace('T', ' ').replace(/\..*/, ' UTC')}
        </span>
        <span class="num">
          <b>{int(run.steps.length)}</b> {run.steps.length === 1 ? 'step' : 'steps'}
          {run.took !== undefined && (
            <>
              , <b>{ms(run.took)}</b>
            </>
          )}
        </span>
        <Spending />
        {run.models.length > 0 && (
          <span class="cut">
            <Safe text={run.models.join(', ')} />
          </span>
        )}
      </div>
      <Tabs />
      <Search label="Search steps" />
      <Theme />
      <button type="button" class="btn" aria-label="Keys" onClick={() => (help.value = true)}>
        ?
      </button>
    </header>
  )
}

function Spending() {
  const { modelCalls, untold, inputTokens, outputTokens, costUsd } = report().run.spending
  if (modelCalls === 0) return <span>no model calls</span>
  if (inputTokens === undefined || outputTokens === undefined) return <span>tokens and cost unknown</span>
  return (
    <span class="num">
      {untold > 0 ? 'at least ' : ''}
      <b>{int(inputTokens + outputTokens)}</b> tokens, {costUsd === undefined ? 'cost unknown' : <b>{usd(costUsd)}</b>}
    </span>
  )
}

/** What there is to say first: where a test parts, which step decided, or how the run ended. */
export function Band() {
  const { run, replay } = report()
  const [first] = decided.value
  if (replay !== undefined) {
    const { nearest } = replay
    const show = (): void => {
      tab.value = 'now'
      if (nearest === undefined) view.value = 'run'
      else jump(nearest)
    }
    return (
      <div class={`verdict ${replay.verdict === 'unproven' ? 'open' : 'red'}`} role="status">
        <span class="badge bad">{replay.verdict === 'unproven' ? 'unproven' : 'red'}</span>
        <p class="grow">
          <strong>
            <Safe text={replay.case} />{' '}
            {nearest === undefined
              ? 'is red'
              : replay.verdict === 'unproven'
                ? `asks otherwise at step ${nearest}`
                : `parts at step ${nearest}`}
            .
          </strong>{' '}
          <span class="soft">
            <Safe text={replay.title} />
            {replay.site !== undefined && (
              <>
                , at{' '}
                <span class="mono">
                  <Safe text={replay.site} />
                </span>
              </>
            )}
          </span>
        </p>
        <button type="button" class="in" onClick={show}>
          Recorded and now
        </button>
      </div>
    )
  }
  if (first !== undefined) {
    const { commitment, position } = first
    const no = position.steps[0] ?? 1
    return (
      <div class="verdict blamed" role="status">
        <span class="badge blame">{commitment.how}</span>
        <p class="grow">
          <strong>{whatDecided(commitment, position)} decided how this run ended.</strong>{' '}
          <span class="soft">
            <Safe text={position.label.slice(0, 140)} />. <Shares hit={first} />
            {run.outcome !== undefined && (
              <>
                {' '}
                The run <Safe text={flat(text(run.outcome.t)).slice(0, 140)} />.
              </>
            )}
          </span>
        </p>
        <button type="button" class="in" onClick={() => jump(no)}>
          Go to step {no}
        </button>
      </div>
    )
  }
  return <Ending />
}

function Ending() {
  const { run } = report()
  const bad = run.steps.find(({ err }) => err !== undefined)
  const last = cutOffAt(run)
  const isUnknown = run.outcome === undefined || run.outcome.status === 'unknown'
  return (
    <section class="verdict" aria-label="Outcome">
      <p class="grow cut">
        <strong>
          {run.truncated
            ? 'Truncated: the process ended before the run did.'
            : isUnknown
              ? 'How the run ended is not recorded.'
              : 'The run '}
        </strong>
        {!isUnknown && (
          <span class="soft">
            <Safe text={flat(text(run.outcome?.t))} />
          </span>
        )}
      </p>
      {bad !== undefined && <StepButton no={bad.no} text={`First error: step ${bad.no}`} />}
      {last !== undefined && <StepButton no={last.no} text={`No answer: step ${last.no}`} />}
    </section>
  )
}

function StepButton({ no, text: words }: { readonly no: number; readonly text: string }) {
  const show = (): void => {
    view.value = 'run'
    go(no)
  }
  return (
    <button type="button" class="in" onClick={show}>
      {words}
    </button>
  )
}

const keys = [
  ['j k ↓ ↑', 'next and previous step'],
  ['g G', 'first and last'],
  ['n p', 'next and previous worth a look: error, retry, difference, blame'],
  ['1 … 6', 'tabs of the step'],
  ['/', 'search: words, kind:tool, agent:billing, is:error, is:retry, is:blamed, is:differs, >500ms'],
  ['c', 'copy a link to this step'],
  ['t', 'light or dark'],
  ['Esc', 'leave the search, close'],
] as const

export function Help() {
  const element = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const box = element.current
    if (help.value && box?.open === false) box.showModal()
    else if (!help.value && box?.open === true) box.close()
  }, [help.value])
  return (
    <dialog ref={element} aria-label="Keys" onClose={() => (help.value = false)}>
      <h2>Keys</h2>
      <div class="keys">
        {keys.map(([names, about]) => (
          <>
            <span>
              {names.split(' ').map((name) => (
                <>
                  <kbd>{name}</kbd>{' '}
                </>
              ))}
            </span>
            <span>{about}</span>
          </>
        ))}
      </div>
      <p class="top">
        <button type="button" class="btn" onClick={() => (help.value = false)}>
          Close
        </button>
      </p>
    </dialog>
  )
}
