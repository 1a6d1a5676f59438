import { join } from 'node:path'
import { here } from '../errors/here.ts'
import { shellWord } from '../errors/index.ts'

/**
 * The command after which git ignores the inbox of a folder of recordings.
 *
 * In the folder itself where its path, or a sign in it, would mean another one in a list of patterns here.
 */
export function ignoreInbox(recordings: string): string {
  const near = here(recordings)
  if (/^\w[\w./-]*$/.test(near)) return `echo ${shellWord(`${near}/inbox/`)} >> .gitignore`
  return `echo inbox/ >> ${shellWord(here(join(recordings, '.gitignore')))}`
}
