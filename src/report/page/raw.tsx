import type { ReportStep } from '../view/types.ts'
import { counted, size } from './format.ts'
import { bodyOf, copy, found, report, text } from './state.ts'
import { Safe, Text } from './text.tsx'

interface BodyProps {
  readonly title: string
  readonly text: string
  /** How an import calls what its recording did not hold. */
  readonly missing?: string
}

function Body({ title, text: body, missing = '' }: BodyProps) {
  if (body === '' && report().run.imported?.missing.includes(missing))
    return (
      <section>
        <h3 class="sect">{title}</h3>
        <p class="soft">not recorded</p>
      </section>
    )
  return (
    <section>
      <h3 class="sect">
        {title} <span class="faint num">{size(body.length)}</span>
        <span class="grow" />
        <button type="button" class="btn" onClick={() => void copy(body, title.toLowerCase())}>
          Copy
        </button>
      </h3>
      <article class="msg code">
        <div>{body === '' ? <span class="faint">empty</span> : <Text text={body} lines={30} find={found.value} />}</div>
      </article>
    </section>
  )
}

/** A step as the tape holds it. */
export function Raw({ s }: { readonly s: ReportStep }) {
  const { raw } = s
  if (raw === undefined)
    return (
      <>
        <Body title="Arguments" text={text(s.args)} />
        {s.result !== undefined && <Body title="Result" text={text(s.result)} />}
      </>
    )
  return (
    <>
      <p class="mono address">
        <Safe text={`${raw.m} ${raw.u}`} />
      </p>
      <Body title="Request" text={bodyOf(s)} missing="requests" />
      <Body title="Request headers" text={text(raw.h)} missing="request-headers" />
      {raw.a !== undefined && (
        <Body
          title={`Response, ${raw.s}${s.left ? '' : `, ${counted(raw.pieces ?? 0, 'piece')}`}`}
          text={text(raw.a)}
          missing="answers"
        />
      )}
      {raw.rh !== undefined && <Body title="Response headers" text={text(raw.rh)} missing="answers" />}
    </>
  )
}

/** The name of a header that brings the key, and how it does. */
function keyHeader(headers: string): string {
  if (/^(?:x-api-key|anthropic-version):/im.test(headers)) return 'x-api-key: $API_KEY'
  if (/^x-goog-api-key:/im.test(headers)) return 'x-goog-api-key: $API_KEY'
  if (/^api-key:/im.test(headers)) return 'api-key: $API_KEY'
  return 'authorization: Bearer $API_KEY'
}

const harmless = /^(?:content-type|accept|anthropic-version|anthropic-beta|openai-beta):/i

/** The request as a command. The key stands for a variable: a tape has none. */
export function curlOf(s: ReportStep): string {
  const { raw } = s
  if (raw === undefined) return ''
  const headers = text(raw.h)
  const kept = headers.split('\n').filter((line) => harmless.test(line))
  const body = bodyOf(s)
  return [
    `curl -X ${quoted(raw.m)} ${quoted(raw.u)}`,
    ...kept.map((line) => `-H ${quoted(line)}`),
    // Double quotes: the shell puts the key in.
    `-H "${keyHeader(headers)}"`,
    ...(body === '' ? [] : [`--data-binary ${quoted(body)}`]),
  ].join(' \\\n  ')
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

/** The calls the model decided, as the lines of a test. */
export function expectations(s: ReportStep): string {
  return (s.calls ?? [])
    .map(({ name, args }) => `expect(run).toCall(${JSON.stringify(name)}, ${JSON.stringify(args)})`)
    .join('\n')
}
