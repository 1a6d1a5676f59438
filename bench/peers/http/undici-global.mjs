// undici's SnapshotAgent as the global dispatcher, under the fetch that Node brings.
export { openAgent as open } from './undici.mjs'
