import { fileURLToPath } from 'node:url'
import { join } from 'node:path'
import { run } from './harvest.ts'

/** The agent of {@link recordRefund}, for `--agent`. */
export const refundAgent = `${fileURLToPath(new URL('./refund-agent.ts', import.meta.url))}#refundAgent`

/** Records a run of the refund agent in a process of its own; answers the path of its tape. */
export async function recordRefund(dir: string, id = 'refund-100x'): Promise<string> {
  const { code, stderr } = await run(process.execPath, [
    fileURLToPath(new URL('./record-refund.child.ts', import.meta.url)),
    dir,
    id,
  ])
  if (code !== 0) throw new Error(`recording failed: ${stderr}`)
  return join(dir, `${id}.tape.jsonl`)
}
