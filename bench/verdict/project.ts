import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { type Subject, subjects } from './agents/index.ts'
import { applied, type Edit } from './edits.ts'

const repository = resolve(import.meta.dirname, '../..')

/** One agent after one edit, in a folder of its own. */
export interface Variant {
  /** `desk-007`; the agent as it is: `desk-000`. */
  readonly id: string
  readonly agent: string
  /** As seen from the project. */
  readonly file: string
  /** Absent for the agent as it is. */
  readonly edit?: Edit
  /** Its edit is of the second list. */
  readonly isSecond?: true
}

/** All variants of all agents, the agents themselves included; those of the second list come last. */
export function allVariants(): readonly Variant[] {
  return [...firstVariants(), ...secondVariants()]
}

function secondVariants(): readonly Variant[] {
  return subjects.flatMap(({ name, second }) =>
    second.map((edit, index): Variant => {
      const id = `${name}-second-${String(index + 1).padStart(2, '0')}`
      return { id, agent: name, file: `${folderOf(id)}/agent.ts`, edit, isSecond: true }
    }),
  )
}

/** The agents, and the first list of edits of each. */
export function firstVariants(): readonly Variant[] {
  return subjects.flatMap(({ name, edits }) =>
    [undefined, ...edits].map((edit, index) => {
      const id = `${name}-${String(index).padStart(3, '0')}`
      return { id, agent: name, file: `${folderOf(id)}/agent.ts`, ...(edit !== undefined && { edit }) }
    }),
  )
}

/**
 * Lays a project out as a user has one: the variants, the built package as npm would install it, and what they import.
 * With `BENCH_LIVE` in its environment a process hears what the agents do, and nothing is recorded or replayed.
 */
export function layOut(dir: string, variants: readonly Variant[]): void {
  write(join(dir, 'package.json'), '{ "private": true, "type": "module" }\n')
  write(
    join(dir, 'src/record/index.ts'),
    `const door = process.env['BENCH_LIVE'] === undefined ? 'vitest-harvest/record' : ${JSON.stringify(join(import.meta.dirname, 'world/seen.ts'))}
export const { client, mark, message, retriever, tool, tools, value } = await import(door)
`,
  )
  const own = join(dir, 'node_modules/vitest-harvest')
  for (const part of ['dist', 'package.json', 'case.schema.json'])
    cpSync(join(repository, part), join(own, part), { recursive: true })
  for (const name of packages(join(repository, 'node_modules'))) {
    const at = join(dir, 'node_modules', name)
    mkdirSync(dirname(at), { recursive: true })
    symlinkSync(join(repository, 'node_modules', name), at, 'junction')
  }
  for (const variant of variants) layOutVariant(dir, variant)
}

function layOutVariant(dir: string, { id, agent, edit }: Variant): void {
  const { files } = subjectOf(agent)
  for (const [file, source] of Object.entries(files)) {
    const isEdited = edit !== undefined && (edit.file ?? 'agent.ts') === file
    write(join(dir, folderOf(id), file), isEdited ? applied(source, edit) : source)
  }
}

export function subjectOf(agent: string): Subject {
  const subject = subjects.find(({ name }) => name === agent)
  if (subject === undefined) throw new RangeError(`no agent called ${agent}`)
  return subject
}

/** As deep as in the repository, so that what an agent imports is found in both. */
function folderOf(id: string): string {
  return `bench/verdict/agents/${id}`
}

/** Names of packages, scoped ones with their scope. */
function packages(folder: string): readonly string[] {
  return readdirSync(folder)
    .flatMap((name) =>
      name.startsWith('@') ? readdirSync(join(folder, name)).map((each) => `${name}/${each}`) : [name],
    )
    .filter((name) => !name.startsWith('.') && name !== 'vitest-harvest')
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

/** A file of the bench as it is. */
export function sourceOf(file: string): string {
  return readFileSync(join(import.meta.dirname, file), 'utf8')
}
