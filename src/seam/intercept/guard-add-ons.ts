import { type AddOn, exportsOf, isHarmless, loadedAddOns, watchAddOns } from '../add-ons.ts'
import { confinement } from './confine.ts'
import { permit, refusal } from './outside.ts'
import type { Responder } from './responder.ts'
import { watchBetterSqlite } from './watch-better-sqlite.ts'
import { list } from './work.ts'

/**
 * Native code is no way around: nothing of what it does is seen, so what is not known to be harmless is refused where it
 * loads. What is known is reported; under `strict` all of it is refused.
 */
export function guardAddOns(): void {
  watchAddOns('guard', (addOn, load, module) => {
    const error = refusalOf(addOn)
    if (error) throw error
    const result = permit(load)
    watchExports(addOn, module.exports)
    return result
  })
  for (const addOn of loadedAddOns()) watchExports(addOn, exportsOf(addOn))
}

function refusalOf(addOn: AddOn): Error | undefined {
  if (confinement() === 'strict' || !isHarmless(addOn)) return refusal('add-on', addOn.name)
  list(confinement() === 'watch' ? 'audit' : 'add-on', 'process.dlopen', addOn.name)
  return undefined
}

/**
 * Asks a run about what is there before it begins: modules stay loaded, so its agent may call into the native code of a set-up
 * file, of a test or of a run before it, and nothing would load again.
 *
 * @returns why the agent may not run at all: nothing could stop it later
 */
export function refusalOfLoaded(run: Responder): Error | undefined {
  const refused = loadedAddOns().map((addOn) => {
    if (!isHarmless(addOn)) return run.escape('add-on', addOn.name, addOn.madeAt)
    run.list?.({ kind: 'add-on', by: 'loaded before the run', target: addOn.name })
    return undefined
  })
  return refused.find((error) => error !== undefined)
}

function watchExports({ name }: AddOn, exported: unknown): void {
  if (name === 'better-sqlite3') watchBetterSqlite(exported)
}
