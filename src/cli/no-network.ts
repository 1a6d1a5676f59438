import { spawn } from 'node:child_process'
import { HarvestError, neutralLine } from '../errors/index.ts'

/** In a network namespace of its own: there is no device but a loopback that is down. `-r` needs no rights. */
const unshare = ['unshare', '-rn'] as const

/**
 * The words to put in front of a command so that it runs where there is no network. Tried first with a command that does
 * nothing.
 *
 * @throws HarvestError `HARVEST_CLI_NO_NETWORK` where this system does not let us: it is never left out in silence
 */
export async function withoutNetwork(): Promise<readonly string[]> {
  if (process.platform !== 'linux') throw refused(`${process.platform} has no network namespaces`)
  const [program, ...args] = unshare
  const said: string[] = []
  const code = await new Promise<number | string>((ended) => {
    const child = spawn(program, [...args, 'true'], { stdio: ['ignore', 'ignore', 'pipe'] })
    child.stderr.on('data', (text) => said.push(String(text)))
    child.once('error', (error: NodeJS.ErrnoException) => ended(error.code ?? error.message))
    child.once('close', (status, signal) => ended(status ?? signal ?? 'no exit code'))
  })
  if (code === 0) return unshare
  throw refused(said.join('').trim() || (code === 'ENOENT' ? 'there is no program unshare' : `exit code ${code}`))
}

function refused(reason: string): HarvestError {
  return new HarvestError('HARVEST_CLI_NO_NETWORK', {
    what: 'This system cannot run a command without a network; nothing was run',
    where: { tried: [...unshare, 'true'].join(' '), reason: neutralLine(reason, 200) },
    why: 'It needs a Linux with user namespaces: containers and some distributions disable them.',
    fix: [
      'on a hosted runner: sudo unshare -n -- sudo -u "$USER" env "PATH=$PATH" npx vitest-harvest test',
      "or use instead: confine: 'strict' in harvest() of the Vitest config",
    ],
  })
}
