import { existsSync, realpathSync } from 'node:fs'
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path'
import type { Case } from '../cases/index.ts'
import { HarvestError, nearestWord, shellWord } from '../errors/index.ts'
import type { TaskContext } from '../jobs/index.ts'
import type { LoadedOracle, OracleFunction } from './oracle.ts'

/** A function that grades, by where it is. */
export interface NamedOracle {
  /** Absolute path. */
  readonly file: string
  readonly export: string
  /** As it was written: `./src/oracle.ts#isRight`. */
  readonly name: string
  /** Place in the case that names it, as `file:line:column`; absent when it was named on the command line. */
  readonly at?: string
}

/**
 * The function a text names; its file is seen from the current folder.
 *
 * @returns `undefined` when it is no `file#export`
 */
export function parseOracle(text: string): NamedOracle | undefined {
  const [, file, symbol] = /^(.+)#([\p{L}_$][\p{L}\p{N}_$]*)$/u.exec(text) ?? []
  return file === undefined || symbol === undefined ? undefined : { file: resolve(file), export: symbol, name: text }
}

/**
 * The function a case names. A case is data: it names code of the project, and none that someone installed.
 *
 * @throws HarvestError `HARVEST_ORACLE_OUTSIDE`
 */
export function oracleOfCase({
  oracle,
  file,
  lines,
}: Pick<Case, 'oracle' | 'file' | 'lines'>): NamedOracle | undefined {
  const named = oracle === undefined ? undefined : parseOracle(oracle)
  if (named === undefined) return undefined
  const at = `${file}:${lines.oracle ?? 1}:1`
  if (!isOfProject(named.file)) throw outside(named.name, at)
  return { ...named, at }
}

/** Whether a file lies below the current folder and in no `node_modules`, wherever links lead. */
function isOfProject(file: string): boolean {
  // Without its ending, which Vite finds, it is judged by its folder; a query would name another file than is looked for.
  const seen = existsSync(file) ? file : dirname(file)
  if (file.includes('?') || !existsSync(seen)) return false
  const parts = relative(realpathSync('.'), realpathSync(seen)).split(sep)
  return parts[0] !== '..' && !isAbsolute(parts.join(sep)) && !parts.includes('node_modules')
}

function outside(oracle: string, at: string): HarvestError {
  return new HarvestError('HARVEST_ORACLE_OUTSIDE', {
    what: 'The oracle of the case is outside this project',
    where: { case: at, oracle },
    why: 'A case may come from elsewhere, so it may only name modules of the project, never of node_modules.',
    fix: [
      'name a module of this project: oracle: ./src/oracle.ts#isRight',
      "or on the command line: --oracle '<file#export>'",
    ],
  })
}

/** @throws HarvestError `HARVEST_ORACLE_EXPORT` when the module has no such function */
export async function loadOracle(
  { file, export: name, name: written, at }: NamedOracle,
  { importModule, timeoutMs }: Pick<TaskContext, 'importModule'> & Partial<Pick<TaskContext, 'timeoutMs'>>,
): Promise<LoadedOracle> {
  const exports = await importModule(file)
  const judge: unknown = Reflect.get(exports, name)
  if (typeof judge === 'function')
    return {
      name: written,
      judge: (run) => Reflect.apply(judge, undefined, [run]) as ReturnType<OracleFunction>,
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    }
  const functions = Object.keys(exports).filter((one) => typeof Reflect.get(exports, one) === 'function')
  const [first] = functions
  const known = `${written.replace(/#[^#]*$/, '')}#${nearestWord(name, functions) ?? first ?? name}`
  throw new HarvestError('HARVEST_ORACLE_EXPORT', {
    what: `The module of ${at === undefined ? '--oracle' : 'the oracle of the case'} has no such function`,
    where: {
      ...(at === undefined ? {} : { case: at }),
      asked: written,
      functions: functions.length > 0 ? functions.join(', ') : 'none',
    },
    fix:
      first === undefined
        ? [`export it: export const ${name} = (run) => run.outcome.status === 'returned'`]
        : [
            at === undefined
              ? `name one that it has: --oracle ${shellWord(known)}`
              : `name one that it has: oracle: ${known}`,
          ],
  })
}
