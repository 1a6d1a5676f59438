/** What a replay asks around the seam: noting it, and answering otherwise. For looking into a tape, never for replaying one. */
import { onceInProcess, syncBuiltins } from '../../seam/patch.ts'
import { probeChance } from './chance.ts'
import { probeCompletion } from './completion.ts'
import { probeEnvironment } from './environment.ts'
import { probeFiles } from './files.ts'
import { probeHost } from './host.ts'
import { probeSqlite } from './sqlite.ts'
import { probeStacks } from './stacks.ts'
import { probeZoneAndLocale } from './zone-and-locale.ts'

export { sweep } from './alter.ts'
export { forgetReadings, probing, type Reading, readings, type SourceKind, type Variation } from './probe.ts'

/** Puts the probe over everything it knows, once in the process and for good; off, it lets all calls through. */
export function installProbe(setVariables: readonly string[] = []): void {
  onceInProcess('probe', () => {
    probeZoneAndLocale()
    probeHost()
    probeEnvironment(new Set(setVariables))
    probeFiles()
    probeSqlite()
    probeChance()
    probeCompletion()
    probeStacks()
    syncBuiltins()
  })
}
export { supposed } from './environment.ts'
