import type { ForeignMark } from '../types.ts'

/** What the file says of how the run went: a reward, a verdict, an exit status. Nothing where it says nothing. */
export function outcome(data: Readonly<Record<string, unknown>>): readonly ForeignMark[] {
  return Object.keys(data).length === 0 ? [] : [{ kind: 'mark', name: 'outcome', data }]
}

/** What someone noted of the run later, such as which step was the mistake. */
export function label(data: Readonly<Record<string, unknown>>): readonly ForeignMark[] {
  return Object.keys(data).length === 0 ? [] : [{ kind: 'mark', name: 'label', data }]
}
