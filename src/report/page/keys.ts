import { go } from './scroll.ts'
import { copyLink, current, golden, help, isLook, query, type TimelineRow, shown, theme, view } from './state.ts'

/** What a key does. None with Ctrl, Alt or Meta, and none while someone types. */
export function onKey(event: KeyboardEvent): void {
  if (event.metaKey || event.ctrlKey || event.altKey || help.value) return
  const { target, key } = event
  if (target instanceof HTMLElement && /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) {
    // A field of the filters sends its form.
    if (target.id !== 'q') return
    if (key === 'Escape') query.value = ''
    const first = shown.value[0]
    if (key === 'Enter' && first !== undefined && golden.value === undefined) go(first.id)
    if (key === 'Escape' || key === 'Enter') target.blur()
    return
  }
  const act = actions[key]
  // Where there is no list, arrows and Home scroll the page.
  const isElsewhere = view.value !== 'run' || golden.value !== undefined
  if (act !== undefined && !(isElsewhere && /^(?:Arrow|Home|End)/.test(key))) {
    act()
    // A page would scroll as well.
    if (!/^[tc?]$/.test(key)) event.preventDefault()
  } else if (/^[1-6]$/.test(key)) {
    document.querySelectorAll<HTMLElement>('.subtabs button:not(.narrow)')[Number(key) - 1]?.click()
  }
}

const focusSearch = (): void => document.getElementById('q')?.focus()
const next = (): void => move((rows, at) => rows[at + 1])
const previous = (): void => move((rows, at) => rows[at - 1])
const first = (): void => move((rows) => rows[0])
const last = (): void => move((rows) => rows.at(-1))

const actions: Readonly<Record<string, () => void>> = {
  j: next,
  ArrowDown: next,
  k: previous,
  ArrowUp: previous,
  g: first,
  Home: first,
  G: last,
  End: last,
  n: () => move((rows, at) => rows.slice(at + 1).find(isLook)),
  p: () => move((rows, at) => rows.slice(0, Math.max(0, at)).findLast(isLook)),
  '/': focusSearch,
  '?': () => (help.value = golden.value === undefined),
  t: () => (theme.value = theme.value === 'dark' ? 'light' : 'dark'),
  c: () => void copyLink(),
}

function move(choose: (rows: readonly TimelineRow[], at: number) => TimelineRow | undefined): void {
  if (view.value !== 'run' || golden.value !== undefined) return
  const at = shown.value.findIndex(({ id }) => id === current.value?.id)
  const row = choose(shown.value, at)
  if (row !== undefined) go(row.id)
}
