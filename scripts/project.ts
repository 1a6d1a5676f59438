import { spawnSync } from 'node:child_process'
import { chmod, copyFile, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { startShopProvider } from '../fixtures/refund/provider.ts'
import { compileCache } from '../fixtures/child/compile-cache.ts'
import { linkTree } from './link-tree.ts'

const repository = resolve(import.meta.dirname, '..')

/** Makes sure `dist/` is there. */
export function requireBuild(): void {
  const { status } = spawnSync('npm', ['run', '--silent', 'build'], { cwd: repository, stdio: 'inherit' })
  if (status !== 0) throw new Error('the package does not build')
}

/**
 * Lays the built package out in `dir/node_modules` as npm would: at a place of its own, so that it finds what the project finds.
 * Everything else is looked up in the folders above.
 */
export async function installPackage(dir: string): Promise<void> {
  const own = join(dir, 'node_modules/vitest-harvest')
  await mkdir(own, { recursive: true })
  linkTree(join(repository, 'dist'), join(own, 'dist'))
  for (const file of ['package.json', 'case.schema.json']) await copyFile(join(repository, file), join(own, file))
  const { bin } = JSON.parse(await readFile(join(own, 'package.json'), 'utf8')) as { bin: Record<string, string> }
  for (const [name, file] of Object.entries(bin)) {
    const at = join(dir, 'node_modules/.bin', name)
    await mkdir(dirname(at), { recursive: true })
    await chmod(join(own, file), 0o755)
    await symlink(join(own, file), at)
  }
  await writeFile(join(dir, 'package.json'), '{ "private": true, "type": "module" }\n')
}

/** The environment of a reader: own commands first, a pretended provider where the real one would be, no CI. */
export function readerEnvironment(dir: string, providerUrl: string): NodeJS.ProcessEnv {
  const { PATH = '', HOME = '', TMPDIR } = process.env
  return {
    PATH: [join(dir, 'node_modules/.bin'), join(repository, 'node_modules/.bin'), PATH].join(':'),
    HOME,
    ...(TMPDIR === undefined ? {} : { TMPDIR }),
    OPENAI_BASE_URL: providerUrl,
    OPENAI_API_KEY: 'sk-not-a-key',
    NO_COLOR: '1',
    GIT_AUTHOR_NAME: 'Reader',
    GIT_AUTHOR_EMAIL: 'reader@example.com',
    GIT_COMMITTER_NAME: 'Reader',
    GIT_COMMITTER_EMAIL: 'reader@example.com',
    ...compileCache,
  }
}

/** The same reader who asks the real provider, such as for a recording that somebody else made there. */
export function withoutProvider(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { OPENAI_API_KEY: _key, OPENAI_BASE_URL: _url, ...rest } = env
  return rest
}

/** The same reader on a machine without the key, where the tests run. The address is part of a question, so it stays. */
export function withoutKey(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { OPENAI_API_KEY: _key, ...rest } = env
  return rest
}

/** Whether a command of the documents runs tests or replays: it must need neither key nor provider. */
export function isTest(command: string): boolean {
  return (
    !command.includes('--prove') &&
    /vitest run|vitest list|harvest (test|accept|replay|verify|promote|show|ls)/.test(command)
  )
}

/** Commands whose package is there already run as they are; nothing is installed. */
export function withoutNpm(command: string): string | undefined {
  return command.startsWith('npm ') ? undefined : command.replace(/^npx /, '')
}

export { startShopProvider }
