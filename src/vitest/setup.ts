import { HarvestError } from '../errors/index.ts'
import { installReplay } from '../replay/index.ts'

// A setup file runs before the test file, and so before any module of an agent is loaded. In a shared worker it runs
// again for every file; installing twice does nothing.
refuseVmContext()
await installReplay()

/**
 * In the vm pools every file has globals and a copy of this package of its own, while Node's modules belong to the thread:
 * what the file before put into them answers beside us, and `fetch` looks for its dispatcher on a global we do not see.
 */
function refuseVmContext(): void {
  // `process` belongs to the thread; seen from a vm context it is no object of that context.
  if (process instanceof Object) return
  throw new HarvestError('HARVEST_POOL', {
    what: 'Cases do not run in the pools vmThreads and vmForks',
    why: 'Their contexts share the modules of Node and not its globals, so a replay cannot hold everything an agent reaches.',
    fix: [
      'leave --pool out, or use --pool=forks or --pool=threads',
      'in the config: harvest({ pool }) sets the pool of cases alone',
    ],
  })
}
