// `npm run demo`: follows the README in a scratch project against a pretended provider on this machine, and shows it.
import { mkdir, rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import { styleText } from 'node:util'
import {
  installPackage,
  isTest,
  readerEnvironment,
  requireBuild,
  startShopProvider,
  withoutKey,
  withoutNpm,
} from './project.ts'
import { type Block, walk } from './walkthrough.ts'

const repository = resolve(import.meta.dirname, '..')
const dir = resolve(repository, '.demo')

console.log('building …')
requireBuild()
await rm(dir, { recursive: true, force: true })
await mkdir(dir, { recursive: true })
await installPackage(dir)
const provider = await startShopProvider()
const env = readerEnvironment(dir, provider.url)
const startedAt = performance.now()
try {
  await walk(resolve(repository, 'README.md'), {
    dir,
    env,
    environmentOf: (command) => (isTest(command) ? withoutKey(env) : undefined),
    rewrite: withoutNpm,
    onBlock: announce,
    onCommand: (command) => console.log(styleText('bold', `\n$ ${command}`)),
    onOutput: (text) => process.stdout.write(text.replaceAll(/^/gm, '  ').replace(/ {2}$/, '')),
  })
} finally {
  await provider.close()
}
const seconds = ((performance.now() - startedAt) / 1000).toFixed(0)
console.log(`
That was the README, word for word, in ${seconds} s: a run was recorded against a provider, promoted to a test and replayed
without it; a bad edit of the agent turned the test red, and its repair green again. The project is in .demo/.`)

function announce(block: Block): void {
  if (block.words.includes('no-run') || block.language === 'console') return
  const [head = ''] = block.text.split('\n')
  if (block.language === 'diff')
    console.log(
      styleText('bold', `\nan edit of ${head.slice(4)}`),
      `\n${block.text
        .split('\n')
        .slice(1)
        .map((line) => `  ${line}`)
        .join('\n')}`,
    )
  else
    console.log(
      styleText('bold', `\n${head.replace(/^(\/\/|#) /, '')}`),
      `is written (${block.text.split('\n').length} lines)`,
    )
}
