#!/usr/bin/env node
// Syntax of old Node versions, and no static import: a Node below the floor must get as far as the sentence.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if ((major === 22 && minor >= 15) || major === 24 || major >= 26) {
  // `run`, `watch` and `related` are Vitest itself, in this process: with its keyboard shortcuts and exit code.
  const isVitest = ['run', 'watch', 'dev', 'related'].indexOf(process.argv[2] ?? '') !== -1
  if (isVitest) await import('./vitest/run-vitest.ts')
  else {
    // A quarter of a command is compiling it. Node keeps that for the next one, among its temporary files.
    const { enableCompileCache } = await import('node:module')
    enableCompileCache()
    await import('./cli/main.ts')
  }
} else {
  console.error(`vitest-harvest needs Node 22.15, 24 or 26 (this is ${process.versions.node})`)
  process.exitCode = 2
}
