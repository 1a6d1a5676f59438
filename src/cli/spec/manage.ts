import type { CommandSpec } from '../command.ts'
import { dirOption, jsonOption } from './common.ts'

export const rmSpec: CommandSpec = {
  name: 'rm',
  now: 'tapes rm',
  args: '<...tapes>',
  about: 'Remove tapes from the inbox; asks first',
  options: [{ flag: '--yes', about: 'Do not ask' }, dirOption, jsonOption],
  examples: ['tapes rm first second --yes', 'tapes rm recordings/inbox/run.tape.jsonl --yes --json'],
}

export const pruneSpec: CommandSpec = {
  name: 'prune',
  now: 'tapes prune',
  about: 'Remove tapes of the inbox whose retention has ended; never one on hold',
  options: [
    { flag: '--dry-run', about: 'List what would be removed and remove nothing' },
    {
      flag: '--older-than <age>',
      about: 'Also tapes older than this without an end of retention: 90d; needs --retention',
    },
    {
      flag: '--retention <class>',
      about: 'Which of those: clean, flagged, incident or none; needs --older-than',
      was: [{ flag: '--class <name>' }],
    },
    dirOption,
    jsonOption,
  ],
  examples: ['tapes prune --dry-run', 'tapes prune --older-than 90d --retention clean'],
}

export const holdSpec: CommandSpec = {
  name: 'hold',
  now: 'tapes hold',
  args: '<tape>',
  about: 'Place a tape under legal hold',
  options: [
    { flag: '--reason <text>', about: 'Why it must be kept' },
    { flag: '--release', about: 'End the hold' },
    dirOption,
    jsonOption,
  ],
  examples: ['tapes hold first --reason "claim 4711"', 'tapes hold first --release'],
}

export const releaseSpec: CommandSpec = {
  name: 'release',
  args: '<tape>',
  about: 'End the legal hold of a tape',
  options: [dirOption, jsonOption],
  examples: ['tapes release first'],
}

export const demoteSpec: CommandSpec = {
  name: 'demote',
  now: 'tapes demote',
  args: '<case>',
  about: 'Take a case out of the golden set; its tape goes back to the inbox',
  options: [dirOption, jsonOption],
  examples: ['tapes demote refund-broken-item', 'tapes demote refund-100x --json'],
}

const subcommands = [rmSpec, pruneSpec, holdSpec, releaseSpec, demoteSpec]

export const tapesSpec: CommandSpec = {
  name: 'tapes',
  group: 'Manage',
  page: 'inbox',
  args: '<rm|prune|hold|release|demote>',
  about: 'Remove, prune, hold, release and demote tapes',
  options: [],
  examples: ['tapes prune --dry-run', 'tapes hold last --reason "claim 4711"'],
}

/** `tapes rm` and the like; by their first names they are earlier commands. */
export const tapesSpecs: readonly CommandSpec[] = subcommands.map(({ now: _, ...spec }) => ({
  ...spec,
  name: `tapes ${spec.name}`,
}))
