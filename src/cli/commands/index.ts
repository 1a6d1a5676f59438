import type { Command } from '../command.ts'

/** How each command is loaded: one that runs loads alone. */
const loaders: Readonly<Record<string, () => Promise<Command>>> = {
  demo: async () => (await import('./demo.ts')).demoCommand,
  init: async () => (await import('./init.ts')).initCommand,
  record: async () => (await import('./record.ts')).recordCommand,
  import: async () => (await import('./import.ts')).importCommand,
  export: async () => (await import('./export.ts')).exportCommand,
  ls: async () => (await import('./ls.ts')).lsCommand,
  show: async () => (await import('./show.ts')).showCommand,
  locate: async () => (await import('./locate.ts')).locateCommand,
  diff: async () => (await import('./diff.ts')).diffCommand,
  report: async () => (await import('./report.ts')).reportCommand,
  open: async () => (await import('./open.ts')).openCommand,
  promote: async () => (await import('./promote.ts')).promoteCommand,
  test: async () => (await import('./test.ts')).testCommand,
  fix: async () => (await import('./fix.ts')).fixCommand,
  accept: async () => (await import('./accept.ts')).acceptCommand,
  check: async () => (await import('./check.ts')).checkCommand,
  review: async () => (await import('./review.ts')).reviewCommand,
  pins: async () => (await import('./pins.ts')).pinsCommand,
  rerun: async () => (await import('./rerun.ts')).rerunCommand,
  replay: async () => (await import('./replay.ts')).replayCommand,
  verify: async () => (await import('./verify.ts')).verifyCommand,
  debug: async () => (await import('./debug.ts')).debugCommand,
  patch: async () => (await import('./patch.ts')).patchCommand,
  fork: async () => (await import('./fork.ts')).forkCommand,
  doctor: async () => (await import('./doctor.ts')).doctorCommand,
  blame: async () => (await import('./blame.ts')).blameCommand,
  isolate: async () => (await import('./isolate.ts')).isolateCommand,
  chaos: async () => (await import('./chaos.ts')).chaosCommand,
  validate: async () => (await import('./validate.ts')).validateCommand,
  demote: async () => (await import('./demote.ts')).demoteCommand,
  rm: async () => (await import('./rm.ts')).rmCommand,
  prune: async () => (await import('./prune.ts')).pruneCommand,
  hold: async () => (await import('./hold.ts')).holdCommand,
  'tapes rm': async () => (await import('./rm.ts')).rmCommand,
  'tapes prune': async () => (await import('./prune.ts')).pruneCommand,
  'tapes hold': async () => (await import('./hold.ts')).holdCommand,
  'tapes release': async () => (await import('./hold.ts')).releaseCommand,
  'tapes demote': async () => (await import('./demote.ts')).demoteCommand,
}

/** Loads the command of a name that is in the table of specs. */
export async function loadCommand(name: string): Promise<Command> {
  const load = Object.hasOwn(loaders, name) ? loaders[name] : undefined
  if (load === undefined) throw new TypeError(`the command ${name} has a spec and no loader`)
  return load()
}
