import { pretty } from './format.ts'
import { report, text } from './state.ts'
import { Safe, Text, Two } from './text.tsx'

/** Where a test turned red: what was recorded, what the agent does now, and where that is in its code. */
export function Now() {
  const red = report().replay
  if (red === undefined) return null
  const [recorded, now] = [text(red.recorded), text(red.now)]
  const at = red.nearest === undefined ? 'recorded' : `recorded, step ${red.nearest}`
  return (
    <>
      <p class="gap">
        <Safe text={red.title} />.
      </p>
      {recorded !== now && (
        <section class="diff">
          <header>
            {red.class !== '' && <span class="badge bad">{red.class}</span>}
            <span class="mono">
              <Safe text={red.path} />
            </span>
          </header>
          <Two a={pretty(recorded)} b={pretty(now)} titles={[at, 'now']} />
        </section>
      )}
      <dl class="kv">
        {red.site !== undefined && (
          <>
            <dt>asked at</dt>
            <dd class="mono">
              <Safe text={red.site} />
            </dd>
          </>
        )}
        <dt>case</dt>
        <dd class="mono">
          <Safe text={red.place} />
        </dd>
        <dt>served</dt>
        <dd class="num">
          {red.served} of {red.steps} steps
        </dd>
        <dt>drift</dt>
        <dd>
          {red.drift.length === 0
            ? 'none'
            : red.drift.map((one) => (
                <div>
                  {one.class} at step {one.step}
                  {one.path === '' ? '' : ', '}
                  <Safe text={one.path} />: <Safe text={text(one.words)} />
                </div>
              ))}
        </dd>
        <dt>escapes</dt>
        <dd>{red.escapes.length === 0 ? 'none' : <Safe text={red.escapes.join(', ')} />}</dd>
        {red.only.length > 0 && (
          <>
            <dt>only now</dt>
            <dd>
              {red.only.map(({ kind, name }) => (
                <div>
                  {kind} <Safe text={name} />
                </div>
              ))}
            </dd>
          </>
        )}
      </dl>
      {red.fix.length > 0 && (
        <>
          <h3 class="sect">What to do</h3>
          <ul>
            {red.fix.map((line) => (
              <li>
                → <Safe text={line} />
              </li>
            ))}
          </ul>
        </>
      )}
      <h3 class="sect">The whole message</h3>
      <article class="msg code">
        <div>
          <Text text={text(red.message)} lines={24} />
        </div>
      </article>
    </>
  )
}
