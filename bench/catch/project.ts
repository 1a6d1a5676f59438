import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Subject, subjects } from './agents/index.ts'
import { applied, type Edit } from './edits.ts'

/** What this repository has installed. */
export const ownModules = resolve(import.meta.dirname, '../../node_modules')

const repository = resolve(import.meta.dirname, '../..')

/** One agent after one edit, as a file of its own. */
export interface Variant {
  /** `refund-07`; the agent as it is: `refund-00`. */
  readonly id: string
  readonly agent: string
  /** As seen from the project. */
  readonly file: string
  /** Absent for the agent as it is. */
  readonly edit?: Edit
}

/**
 * Lays a project out as a user has one: the agents and all their variants, the built package as npm would install it,
 * and everything they import.
 *
 * @param modules - folders of `node_modules` whose packages the project finds; the first that has one wins
 */
export function layOut(dir: string, modules: readonly string[]): void {
  cpSync(import.meta.dirname, join(dir, 'bench/catch'), { recursive: true })
  cpSync(join(repository, 'fixtures/provider/mind.ts'), join(dir, 'fixtures/provider/mind.ts'), { recursive: true })
  write(join(dir, 'package.json'), '{ "private": true, "type": "module" }\n')
  write(join(dir, 'src/record/index.ts'), "export * from 'vitest-harvest/record'\n")
  const own = join(dir, 'node_modules/vitest-harvest')
  for (const part of ['dist', 'package.json', 'case.schema.json'])
    cpSync(join(repository, part), join(own, part), { recursive: true })
  const found = new Set(['vitest-harvest', '.bin', '.cache', '.installed'])
  for (const folder of modules) {
    for (const name of packagesIn(folder)) {
      if (found.has(name)) continue
      found.add(name)
      const at = join(dir, 'node_modules', name)
      mkdirSync(resolve(at, '..'), { recursive: true })
      symlinkSync(join(folder, name), at, 'junction')
    }
  }
  for (const subject of subjects) {
    const source = readFileSync(join(import.meta.dirname, 'agents', subject.name, 'agent.ts'), 'utf8')
    for (const { file, edit } of variantsOf(subject))
      write(join(dir, file), edit === undefined ? source : applied(source, edit))
  }
}

/** All variants of all agents, the agents themselves included. */
export function allVariants(): readonly Variant[] {
  return subjects.flatMap(variantsOf)
}

function variantsOf({ name, edits }: Subject): readonly Variant[] {
  return [undefined, ...edits].map((edit, index) => {
    const id = `${name}-${String(index).padStart(2, '0')}`
    return { id, agent: name, file: `bench/catch/agents/${name}/${id}.ts`, ...(edit !== undefined && { edit }) }
  })
}

/** Names of packages, scoped ones with their scope. */
function packagesIn(folder: string): readonly string[] {
  return readdirSync(folder).flatMap((name) =>
    name.startsWith('@') ? readdirSync(join(folder, name)).map((each) => `${name}/${each}`) : [name],
  )
}

function write(file: string, text: string): void {
  mkdirSync(resolve(file, '..'), { recursive: true })
  writeFileSync(file, text)
}
