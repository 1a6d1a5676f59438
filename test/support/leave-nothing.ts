import { afterAll } from 'vitest'
import { removeTemporaryFolders } from './temporary-folder.ts'

// Hooks that are registered first run last: tests still find their folders when they end.
afterAll(removeTemporaryFolders)
