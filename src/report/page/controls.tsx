import { query, theme } from './state.ts'

/** The search of a page: it stands in its address, `/` goes there, Escape empties it. */
export function Search({ label }: { readonly label: string }) {
  return (
    <input
      class="search"
      id="q"
      type="search"
      placeholder="Search  /"
      aria-label={label}
      value={query.value}
      onInput={(event) => (query.value = event.currentTarget.value)}
    />
  )
}

/** Changes between light and dark, as `t` does. */
export function Theme() {
  const isDark = theme.value === 'dark'
  return (
    <button
      type="button"
      class="btn"
      aria-label="Light or dark"
      onClick={() => (theme.value = isDark ? 'light' : 'dark')}
    >
      {isDark ? 'Light' : 'Dark'}
    </button>
  )
}
