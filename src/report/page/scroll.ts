import { batch } from '@preact/signals'
import { shown, step, tab, view } from './state.ts'

/** Pixels of a row. */
export const rowHeight = 46

/** The element of the timeline that scrolls. */
export const list: { element: HTMLElement | null } = { element: null }

/** Shows a row, and scrolls to it where it is not seen. */
export function go(id: number): void {
  step.value = id
  const index = shown.value.findIndex((row) => row.id === id)
  const { element } = list
  if (element === null || index < 0) return
  const y = index * rowHeight
  if (y < element.scrollTop || y + rowHeight > element.scrollTop + element.clientHeight)
    element.scrollTop = y - element.clientHeight / 2 + rowHeight
}

/** Shows a step of the run, from whichever view. */
export function jump(no: number, name?: string): void {
  batch(() => {
    view.value = 'run'
    if (name !== undefined) tab.value = name
    go(no)
  })
}
