import path from 'node:path'

/** Import specifiers and the names of cases have `/` on every system. */
export function toPosix(file: string): string {
  return path.sep === '/' ? file : file.split(path.sep).join('/')
}
