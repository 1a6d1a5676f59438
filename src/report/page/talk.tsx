import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import type { ReportStep } from '../view/types.ts'
import { counted, int, looksJson, percent, pretty, size } from './format.ts'
import { callBefore, sharedMessages } from './prompt.ts'
import { Raw } from './raw.tsx'
import { go } from './scroll.ts'
import { found, isPrinting, report, text } from './state.ts'
import { Safe, Text } from './text.tsx'

interface MessageProps {
  readonly who: string
  readonly tag?: string
  readonly text: string
  readonly calls?: readonly string[] | undefined
  readonly isOld?: boolean
  readonly lines?: number
}

function Message({ who, tag = '', text: said, calls, isOld = false, lines }: MessageProps) {
  return (
    <article class={`msg${isOld ? ' old' : ''}${looksJson(said) ? ' code' : ''}`}>
      <header>
        <b>
          <Safe text={who} />
        </b>
        {tag !== '' && <span class="faint">{tag}</span>}
        <span class="grow" />
        {said !== '' && <span class="faint num">{size(said.length)}</span>}
      </header>
      {(said !== '' || calls !== undefined) && (
        <div>
          {said !== '' && <Text text={pretty(said)} find={found.value} {...(lines === undefined ? {} : { lines })} />}
          {calls !== undefined && <CallList calls={calls.map((one) => ({ text: one }))} />}
        </div>
      )}
    </article>
  )
}

interface ShownCall {
  readonly text: string
  readonly name?: string
  readonly args?: unknown
}

/** The tools a model asks for. */
export function CallList({ calls }: { readonly calls: readonly ShownCall[] }) {
  return (
    <div class="calls">
      {calls.map(({ name, args, text: line }) => (
        <div class="callbox code">
          {name === undefined ? (
            <pre>
              <Safe text={line} find={found.value} />
            </pre>
          ) : (
            <>
              <b class="mono">
                <Safe text={name} />
              </b>
              <pre>
                <Safe text={JSON.stringify(args, null, 2)} find={found.value} />
              </pre>
            </>
          )}
        </div>
      ))}
    </div>
  )
}

export function Block({ children }: { readonly children: ComponentChildren }) {
  return (
    <article class="msg code">
      <div>{children}</div>
    </article>
  )
}

/** The step whose earlier messages are unfolded. */
const unfolded = signal(0)

/** What was said in a model call, or what a tool was asked and answered. */
export function Talk({ s }: { readonly s: ReportStep }) {
  if (s.prompt === undefined) return <Call s={s} />
  const [shared, before] = [sharedMessages(s), callBefore(s)]
  const isOpen = unfolded.value === s.no || isPrinting.value
  return (
    <>
      {s.prompt.sys.map((ref) => (
        <Message
          who="system"
          tag={before?.prompt?.sys.includes(ref) ? `as in step ${before.no}` : ''}
          text={text(ref)}
          lines={before === undefined ? 12 : 3}
        />
      ))}
      {shared > 0 && !isOpen && (
        <button type="button" class="more earlier" onClick={() => (unfolded.value = s.no)}>
          {counted(shared, 'earlier message')}, as in step {before?.no}: show
        </button>
      )}
      {s.prompt.msgs.map((message, index) =>
        index < shared && !isOpen ? null : (
          <Message
            who={message.r}
            tag={before === undefined || index < shared ? '' : 'new'}
            text={text(message.t)}
            calls={message.c}
            isOld={index < shared}
          />
        ),
      )}
      <Answer s={s} />
    </>
  )
}

function Answer({ s }: { readonly s: ReportStep }) {
  const hasAnswer = s.said !== undefined || s.calls !== undefined
  return (
    <>
      <h3 class="sect">
        {s.err === undefined ? 'Answer' : 'No answer'}
        {s.fin !== undefined && (
          <span class="faint">
            finish: <Safe text={s.fin} />
          </span>
        )}
      </h3>
      {s.err !== undefined && <Failure s={s} />}
      {s.thought !== undefined && (
        <article class="msg">
          <header>
            <b>reasoning</b>
          </header>
          <div>
            <Text text={text(s.thought)} find={found.value} />
          </div>
        </article>
      )}
      {hasAnswer && (
        <article class="msg answer">
          <header>
            <b>
              <Safe text={s.name} />
            </b>
            {s.tok !== undefined && <span class="num">{int(s.tok[2])} tokens</span>}
          </header>
          <div>
            {s.said !== undefined && <Text text={text(s.said)} lines={40} find={found.value} />}
            {s.calls !== undefined && <CallList calls={s.calls} />}
          </div>
        </article>
      )}
      {!hasAnswer && s.err === undefined && (
        <p class="soft">{s.open ? 'No answer was recorded.' : 'The answer is empty.'}</p>
      )}
      {s.sure !== undefined && <Confidence s={s} />}
    </>
  )
}

function Failure({ s }: { readonly s: ReportStep }) {
  return (
    <article class="msg err">
      <header>
        <b>{s.status ?? 'error'}</b>
      </header>
      <div>
        <Text text={s.err ?? ''} find={found.value} />
      </div>
    </article>
  )
}

/** How sure the model was, where its provider said so. */
function Confidence({ s: { sure } }: { readonly s: ReportStep }) {
  if (sure === undefined) return null
  return (
    <>
      <h3 class="sect">
        How sure the model was (log probabilities){' '}
        <span class="faint">{counted(sure.tokens, 'token')}, as recorded</span>
      </h3>
      <p class="soft">
        <b class="num">{percent(sure.mean)}</b> a token, geometric mean. Least sure:
      </p>
      <div class="tokens">
        {sure.least.map(({ token, p }) => (
          <span>
            <code>
              <Safe text={JSON.stringify(token)} />
            </code>{' '}
            <span class="num">{percent(p)}</span>
          </span>
        ))}
      </div>
    </>
  )
}

function Call({ s }: { readonly s: ReportStep }) {
  const { imported } = report().run
  if (s.args === undefined && s.result === undefined && s.raw !== undefined) return <Raw s={s} />
  return (
    <>
      {s.err !== undefined && <Failure s={s} />}
      <h3 class="sect">{s.kind === 'http' ? 'Request' : 'Arguments'}</h3>
      {s.args === undefined ? (
        <p class="soft">none</p>
      ) : (
        <Block>
          <Text text={pretty(text(s.args))} lines={40} find={found.value} />
        </Block>
      )}
      <h3 class="sect">
        {s.kind === 'retrieval' ? 'Passages' : 'Result'} <ReadBy s={s} />
      </h3>
      {s.result !== undefined && (
        <Block>
          <Text text={pretty(text(s.result))} lines={40} find={found.value} />
        </Block>
      )}
      {s.result === undefined && s.err === undefined && (
        <div class="empty">
          {s.open || imported !== undefined ? 'No answer is on the tape' : 'It answered with nothing'}
          {imported !== undefined && <>: {imported.format} does not keep them</>}.
        </div>
      )}
    </>
  )
}

/** Where an answer went: the first model call whose prompt has it. */
function ReadBy({ s }: { readonly s: ReportStep }) {
  const head = text(s.result).replace(/\s/g, '').slice(0, 60)
  if (head.length < 4) return null
  const reader = report()
    .run.steps.slice(s.no, s.no + 60)
    .find(({ prompt }) => prompt?.msgs.slice(-12).some(({ t }) => text(t).replace(/\s/g, '').includes(head)))
  if (reader === undefined) return null
  return (
    <span class="faint">
      first read by{' '}
      <button type="button" class="more" onClick={() => go(reader.no)}>
        step {reader.no}
      </button>
    </span>
  )
}
