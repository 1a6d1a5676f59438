import { inject } from 'vitest'
import { confine } from '../seam/intercept/confine.ts'
import { installReplay } from '../replay/index.ts'
import { nameSetUpFiles } from './set-up-files.ts'
import { captureOutput } from './worker-output.ts'

// A setup file runs before the test file, and so before any module of an agent is loaded. In a shared worker it runs
// again for every file; installing twice does nothing. In a vm pool it gives each file's own globals their patches.
await installReplay()
// What Node refuses is heard from now on; whether it refuses at all, each case asks for itself.
confine(inject('vitest-harvest/set').confine)
nameSetUpFiles()
captureOutput()
