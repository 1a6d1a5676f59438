// After `changeset version` has written package.json: brings the other places that hold the version along.
import { readFileSync, writeFileSync } from 'node:fs'

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }

const module = readFileSync('src/version.ts', 'utf8')
writeFileSync('src/version.ts', module.replace(/version = '[^']*'/, `version = '${version}'`))

const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
  version: string
  packages: { '': { version: string } }
}
lock.version = version
lock.packages[''].version = version
writeFileSync('package-lock.json', `${JSON.stringify(lock, null, 2)}\n`)
