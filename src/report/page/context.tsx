import type { ReportMessage, ReportStep } from '../view/types.ts'
import { int, looksJson, percent, pretty } from './format.ts'
import { callBefore, flatPrompt, messagesBeyond, type PromptPart, partsOf, tokensAbout } from './prompt.ts'
import { found, tab, text } from './state.ts'
import { CallList } from './talk.tsx'
import { Diff, Safe, Text } from './text.tsx'

/** Tokens of a character, where no provider counted: about four characters are one. */
const guessed = 0.25

/** What a model saw: by part, with what entered and what left since the call before. */
export function Context({ s }: { readonly s: ReportStep }) {
  const parts = partsOf(s)
  const all = parts.reduce((sum, { characters }) => sum + characters, 0)
  const told = s.tok?.[0] ?? undefined
  const perCharacter = told === undefined || all === 0 ? guessed : told / all
  const before = callBefore(s)
  return (
    <>
      <h3 class="sect">
        {told === undefined ? `About ${int(Math.round(all * perCharacter))} tokens` : `${int(told)} tokens`}{' '}
        <span class="faint">
          {told === undefined
            ? 'estimated by length: the answer has no count'
            : 'counted by the provider; shared out among the parts by length'}
        </span>
      </h3>
      <p class="soft gap">
        Sizes, and what changed. The text is under{' '}
        <button type="button" class="more" onClick={() => (tab.value = 'talk')}>
          Conversation
        </button>
        .
      </p>
      <Bar parts={parts} all={all} />
      <Legend parts={parts} before={before} perCharacter={perCharacter} />
      {before !== undefined && <Changes s={s} before={before} perCharacter={perCharacter} />}
      <h3 class="sect">Settings</h3>
      <article class="msg code">
        <div>
          <Text text={text(s.prompt?.params)} />
        </div>
      </article>
    </>
  )
}

function Bar({ parts, all }: { readonly parts: readonly PromptPart[]; readonly all: number }) {
  const label = parts.map((part) => `${part.label} ${percent(part.characters / all)}`).join(', ')
  return (
    <div class="ctx" role="img" aria-label={label}>
      {parts.map(({ name, label: title, characters }) => (
        <i
          class={`p-${name}`}
          style={{ width: `${(characters / all) * 100}%` }}
          title={`${title} ${percent(characters / all)}`}
        />
      ))}
    </div>
  )
}

interface LegendProps {
  readonly parts: readonly PromptPart[]
  readonly before: ReportStep | undefined
  readonly perCharacter: number
}

function Legend({ parts, before, perCharacter }: LegendProps) {
  const then = new Map((before === undefined ? [] : partsOf(before)).map(({ name, characters }) => [name, characters]))
  const change = ({ name, characters }: PromptPart): string => {
    const by = Math.round((characters - (then.get(name) ?? 0)) * perCharacter)
    return by === 0 ? '±0' : `${by > 0 ? '+' : '−'}${int(Math.abs(by))}`
  }
  return (
    <div class="legend">
      {parts.map((part) => (
        <>
          <span class={`dot p-${part.name}`} />
          <span>
            {part.label} <span class="faint">{part.count}</span>
          </span>
          <span class="num">≈ {int(Math.round(part.characters * perCharacter))}</span>
          <span class="num faint">{before === undefined ? '' : change(part)}</span>
        </>
      ))}
    </div>
  )
}

interface ChangesProps {
  readonly s: ReportStep
  readonly before: ReportStep
  readonly perCharacter: number
}

function Changes({ s, before, perCharacter }: ChangesProps) {
  const [left, entered] = [messagesBeyond(before, s), messagesBeyond(s, before)]
  return (
    <>
      <h3 class="sect">
        Since step {before.no}, this agent's previous model call{' '}
        <span class="faint">
          {entered.length} entered, {left.length} left
        </span>
      </h3>
      {left.map((message) => (
        <article class="msg">
          <header>
            <span class="badge bad">left</span>
            <b>
              <Safe text={message.r} />
            </b>
          </header>
          <div>
            <del>
              <Text text={text(message.t)} lines={4} />
            </del>
            {message.c !== undefined && <CallList calls={message.c.map((line) => ({ text: line }))} />}
          </div>
        </article>
      ))}
      {entered.map((message) => (
        <Entered message={message} perCharacter={perCharacter} />
      ))}
      {left.length + entered.length === 0 && <p class="soft">Nothing: the same messages again.</p>}
    </>
  )
}

function Entered({ message, perCharacter }: { readonly message: ReportMessage; readonly perCharacter: number }) {
  const said = text(message.t)
  return (
    <article class={`msg${looksJson(said) ? ' code' : ''}`}>
      <header>
        <span class="badge ok">entered</span>
        <b>
          <Safe text={message.r} />
        </b>
        <span class="grow" />
        <span class="faint num">≈ {int(tokensAbout(message, perCharacter))} tokens</span>
      </header>
      <div>
        {said !== '' && <Text text={pretty(said)} lines={6} find={found.value} />}
        {message.c !== undefined && <CallList calls={message.c.map((line) => ({ text: line }))} />}
      </div>
    </article>
  )
}

/** Prompt, tools and settings against those of the call before. */
export function SinceBefore({ s }: { readonly s: ReportStep }) {
  const before = callBefore(s)
  if (before?.prompt === undefined || s.prompt === undefined) return null
  const toolsOf = ({ prompt }: ReportStep): string => (prompt?.tools ?? []).map(({ t }) => text(t)).join('\n')
  return (
    <>
      <Section title="Prompt" note={`since step ${before.no}, this agent's previous model call`}>
        <Diff a={flatPrompt(before)} b={flatPrompt(s)} byWords={false} />
      </Section>
      <Section title="Tools">
        <Diff a={toolsOf(before)} b={toolsOf(s)} />
      </Section>
      <Section title="Settings">
        <Diff a={text(before.prompt.params)} b={text(s.prompt.params)} />
      </Section>
    </>
  )
}

interface SectionProps {
  readonly title: string
  readonly note?: string
  readonly children: preact.ComponentChildren
}

export function Section({ title, note, children }: SectionProps) {
  return (
    <section class="diff">
      <header>
        <b>{title}</b>
        {note !== undefined && <span class="faint">{note}</span>}
      </header>
      {children}
    </section>
  )
}

export function Tools({ s }: { readonly s: ReportStep }) {
  return (
    <>
      {(s.prompt?.tools ?? []).map(({ n, t }) => (
        <article class="msg code">
          <header>
            <b class="mono">
              <Safe text={n} />
            </b>
            <span class="grow" />
            {s.calls?.some(({ name }) => name === n) && <span class="badge tool">called</span>}
          </header>
          <div>
            <Text text={text(t)} lines={10} />
          </div>
        </article>
      ))}
    </>
  )
}
