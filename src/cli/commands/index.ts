import type { CommandSpec } from '../command.ts'

/** How every command of `harvest` is loaded, in the order people meet them: one that is called alone loads alone. */
const loaders: Readonly<Record<string, () => Promise<CommandSpec>>> = {
  init: async () => (await import('./init.ts')).initCommand,
  record: async () => (await import('./record.ts')).recordCommand,
  import: async () => (await import('./import.ts')).importCommand,
  export: async () => (await import('./export.ts')).exportCommand,
  ls: async () => (await import('./ls.ts')).lsCommand,
  show: async () => (await import('./show.ts')).showCommand,
  diff: async () => (await import('./diff.ts')).diffCommand,
  promote: async () => (await import('./promote.ts')).promoteCommand,
  demote: async () => (await import('./demote.ts')).demoteCommand,
  rm: async () => (await import('./rm.ts')).rmCommand,
  prune: async () => (await import('./prune.ts')).pruneCommand,
  hold: async () => (await import('./hold.ts')).holdCommand,
  accept: async () => (await import('./accept.ts')).acceptCommand,
  test: async () => (await import('./test.ts')).testCommand,
  replay: async () => (await import('./replay.ts')).replayCommand,
  verify: async () => (await import('./verify.ts')).verifyCommand,
  rerun: async () => (await import('./rerun.ts')).rerunCommand,
  patch: async () => (await import('./patch.ts')).patchCommand,
  fork: async () => (await import('./fork.ts')).forkCommand,
  blame: async () => (await import('./blame.ts')).blameCommand,
  chaos: async () => (await import('./chaos.ts')).chaosCommand,
  doctor: async () => (await import('./doctor.ts')).doctorCommand,
  validate: async () => (await import('./validate.ts')).validateCommand,
  pins: async () => (await import('./pins.ts')).pinsCommand,
  check: async () => (await import('./check.ts')).checkCommand,
}

/** The command somebody named, or all of them when there is none of that name: then help is wanted, or a name is wrong. */
export async function loadCommands(name: string | undefined): Promise<readonly CommandSpec[]> {
  const load = name !== undefined && Object.hasOwn(loaders, name) ? loaders[name] : undefined
  return load === undefined ? Promise.all(Object.values(loaders).map((one) => one())) : [await load()]
}
