// The client half of the suite's own tests of servers: its program offers them as a command alone, which ends its process.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

export interface Suite {
  /** Names of the scenarios that judge a server. */
  names(): readonly string[]
  /** Asks a server as a client, and judges what it answers. */
  run(url: string, scenario: string): Promise<{ readonly checks: readonly Check[] }>
}

interface Check {
  readonly id: string
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'INFO'
}

/** @param folder - of the installed package */
export async function loadSuite(folder: string): Promise<Suite> {
  const source = readFileSync(join(folder, 'dist/index.js'), 'utf8')
  const [, run] = /await (\w+)\(\w+\.url,\w+\.scenario,/.exec(source) ?? []
  const [, names] = /=== ?`all`\?\w+=(\w+)\(\)/.exec(source) ?? []
  const end = /,?\$\.parse\(\);export\{\};?\s*$/
  if (run === undefined || names === undefined || !end.test(source))
    throw new Error(`${folder} is not the version of the suite whose scenarios are known`)
  const file = join(folder, 'dist/scenarios.js')
  writeFileSync(
    file,
    source.replace(end, () => `;export { ${names} as names, ${run} as run }\n`),
  )
  return (await import(pathToFileURL(file).href)) as Suite
}
