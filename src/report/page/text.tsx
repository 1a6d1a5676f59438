import { diffLines, diffWordsWithSpace } from 'diff'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { codeOf, size, tricky } from './format.ts'
import { isPrinting } from './state.ts'

/** Recorded text: shown, never obeyed. Text nodes alone, and what would hide or turn text is written out. */
export function Safe({ text, find }: { readonly text: string; readonly find?: string | undefined }) {
  if (!tricky.test(text)) return <>{marked(text, find)}</>
  const parts = text
    .split(tricky)
    .map((part, index) => (index % 2 === 1 ? <span class="esc">{codeOf(part)}</span> : marked(part, find)))
  return <>{parts}</>
}

/** Marks that are drawn in one text. */
const maxMarks = 200

function marked(text: string, find: string | undefined): ComponentChildren {
  if (find === undefined || find === '') return text
  const low = text.toLowerCase()
  // Lower case can have another length: then a place in it is no place in the text.
  if (low.length !== text.length) return text
  const word = find.toLowerCase()
  const parts: ComponentChildren[] = []
  let at = 0
  for (let hit = low.indexOf(word); hit >= 0 && parts.length < maxMarks; hit = low.indexOf(word, at)) {
    parts.push(text.slice(at, hit), <mark>{text.slice(hit, hit + word.length)}</mark>)
    at = hit + word.length
  }
  return [...parts, text.slice(at)]
}

interface TextProps {
  readonly text: string
  readonly lines?: number
  readonly find?: string | undefined
}

/** Long texts are folded: 5,000 lines of a tool must not be in the way of the next message. */
export function Text({ text, lines = 14, find }: TextProps) {
  const [isOpen, setOpen] = useState(false)
  const all = text.split('\n')
  const isLong = all.length > lines + 3 || text.length > lines * 240
  const isWhole = isOpen || !isLong || isPrinting.value
  const rest = all.length > lines ? `${(all.length - lines).toLocaleString('en-US')} more lines` : 'the rest'
  return (
    <>
      <pre>
        <Safe
          text={
            isWhole
              ? text
              : all
                  .slice(0, lines)
                  .join('\n')
                  .slice(0, lines * 240)
          }
          find={find}
        />
      </pre>
      {isLong && (
        <button type="button" class="more" onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'fold' : `show ${rest} (${size(text.length)})`}
        </button>
      )}
    </>
  )
}

// Two wholly different texts of 18 KB take seconds by words: then both are shown as they are.
const options = { timeout: 150, maxEditLength: 4000 } as const

/** What changed between two texts, in one. */
export function Diff({ a, b, byWords }: { readonly a: string; readonly b: string; readonly byWords?: boolean }) {
  if (a === b) return <pre class="same">the same</pre>
  const isShort = byWords ?? a.length + b.length < 6000
  // A last line without its end would differ from the same line in the middle.
  const parts = isShort ? diffWordsWithSpace(a, b, options) : diffLines(`${a}\n`, `${b}\n`, options)
  if (parts === undefined)
    return (
      <pre>
        <del>
          <Safe text={a.slice(0, 2000)} />
        </del>
        {'\n'}
        <ins>
          <Safe text={b.slice(0, 2000)} />
        </ins>
      </pre>
    )
  return (
    <pre>
      {parts.map(({ added, removed, value }) =>
        added ? (
          <ins>
            <Safe text={value} />
          </ins>
        ) : removed ? (
          <del>
            <Safe text={value} />
          </del>
        ) : (
          <Safe text={squeezed(value)} />
        ),
      )}
    </pre>
  )
}

interface TwoProps {
  readonly a: string
  readonly b: string
  readonly titles: readonly [a: string, b: string]
}

/** Two texts side by side, with what differs marked. */
export function Two({ a, b, titles: [titleA, titleB] }: TwoProps) {
  const parts = diffWordsWithSpace(a, b, options) ?? [
    { value: a, removed: true, added: false },
    { value: b, removed: false, added: true },
  ]
  return (
    <div class="two">
      <div>
        <div class="faint">{titleA}</div>
        <pre>
          {parts
            .filter(({ added }) => !added)
            .map(({ removed, value }) =>
              removed ? (
                <del>
                  <Safe text={value} />
                </del>
              ) : (
                <Safe text={squeezed(value)} />
              ),
            )}
        </pre>
      </div>
      <div>
        <div class="faint">{titleB}</div>
        <pre>
          {parts
            .filter(({ removed }) => !removed)
            .map(({ added, value }) =>
              added ? (
                <ins>
                  <Safe text={value} />
                </ins>
              ) : (
                <Safe text={squeezed(value)} />
              ),
            )}
        </pre>
      </div>
    </div>
  )
}

function squeezed(value: string): string {
  const lines = value.split('\n')
  if (lines.length <= 9) return value
  return [...lines.slice(0, 3), `⋯ ${lines.length - 6} lines the same ⋯`, ...lines.slice(-3)].join('\n')
}
