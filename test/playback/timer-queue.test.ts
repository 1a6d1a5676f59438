import fc from 'fast-check'
import { expect, test } from 'vitest'
import { TimerQueue } from '../../src/playback/timer-queue.ts'
import type { VirtualTimer } from '../../src/seam/intercept/index.ts'

test('for every series of timers, set, cancelled and refreshed, those left fire by due time and age', () => {
  const step = fc.record({
    due: fc.integer({ min: 0, max: 30 }),
    cancels: fc.option(fc.nat({ max: 200 }), { nil: undefined }),
    refreshes: fc.option(fc.nat({ max: 200 }), { nil: undefined }),
    // Refreshed in the moment it was set in, a timer is due when it was.
    later: fc.constantFrom(0, 31),
  })
  fc.assert(
    fc.property(fc.array(step, { minLength: 100, maxLength: 200 }), (steps) => {
      const queue = new TimerQueue()
      const timers: VirtualTimer[] = []
      const ages = new Map<VirtualTimer, number>()
      let age = 0
      const push = (timer: VirtualTimer): void => {
        queue.push(timer)
        ages.set(timer, age++)
      }
      for (const { due, cancels, refreshes, later } of steps) {
        timers.push(timerDue(due))
        push(timers.at(-1)!)
        const cancelled = cancels === undefined ? undefined : timers[cancels]
        if (cancelled) cancelled.cancelled = true
        const refreshed = refreshes === undefined ? undefined : timers[refreshes]
        if (!refreshed) continue
        refreshed.due += later
        refreshed.cancelled = false
        push(refreshed)
      }
      const left = timers.filter(({ cancelled }) => !cancelled)
      left.sort((a, b) => a.due - b.due || (ages.get(a) ?? 0) - (ages.get(b) ?? 0))
      const fired: VirtualTimer[] = []
      for (let timer = queue.pop(); timer; timer = queue.pop()) fired.push(timer)
      const order = (list: readonly VirtualTimer[]): readonly number[] => list.map((timer) => timers.indexOf(timer))
      expect(order(fired)).toEqual(order(left))
    }),
  )
})

test('limits of minutes that were cancelled with the answer are not held until the end of the run', () => {
  const queue = new TimerQueue()
  const limit = timerDue(600_000)
  queue.push(limit)
  for (let call = 0; call < 5_000; call++) {
    const timer = timerDue(600_000 + call)
    queue.push(timer)
    timer.cancelled = true
  }
  expect(queue.size).toBeLessThan(100)
  expect(queue.pop()).toBe(limit)
})

function timerDue(due: number): VirtualTimer {
  return { ms: due, due, cancelled: false, isHolding: true, fire: () => undefined }
}
