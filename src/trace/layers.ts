import type { PlacedCall } from './placed.ts'
import type { TraceCall } from './types.ts'

/**
 * Puts every call into the layer of its longest chain of causes: one sweep over the moments, n·log n.
 *
 * A call's layer is one more than the highest layer among the calls settled before it was issued, calls of its own
 * group left out. For that it is enough to know, at each moment, the highest settled layer and the highest one of
 * any other group.
 */
export function layered(calls: readonly PlacedCall[]): readonly (readonly TraceCall[])[] {
  const byIssue = calls
    .map((call, index) => ({ ...call, index }))
    .sort((a, b) => a.issued - b.issued || a.index - b.index)
  const bySettlement = byIssue.filter(({ settled }) => settled < Infinity).sort((a, b) => a.settled - b.settled)
  const layerOf = new Map<PlacedCall, number>()
  const highest = new HighestOfTwoGroups()
  const layers: (typeof byIssue)[] = []
  let next = 0
  for (const call of byIssue) {
    for (let done = bySettlement[next]; done !== undefined && done.settled < call.issued; done = bySettlement[++next]) {
      // A call cannot be settled before it is issued; on a tape that says so, it does not count as a cause.
      const layer = layerOf.get(done)
      if (layer !== undefined) highest.add(layer, done.group)
    }
    const layer = highest.without(call.group) + 1
    layerOf.set(call, layer)
    const same = layers[layer]
    if (same === undefined) layers[layer] = [call]
    else same.push(call)
  }
  return layers.map((layer) => layer.sort((a, b) => a.call.n - b.call.n || a.index - b.index).map(({ call }) => call))
}

/** The highest layer settled so far, and the highest of any group but that one's. -1: none yet. */
class HighestOfTwoGroups {
  #best = { layer: -1, group: Number.NaN }
  #other = -1

  add(layer: number, group: number): void {
    if (group === this.#best.group) this.#best.layer = Math.max(this.#best.layer, layer)
    else if (layer > this.#best.layer) {
      this.#other = this.#best.layer
      this.#best = { layer, group }
    } else this.#other = Math.max(this.#other, layer)
  }

  without(group: number): number {
    return group === this.#best.group ? this.#other : this.#best.layer
  }
}
