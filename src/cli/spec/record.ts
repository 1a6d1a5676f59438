import { exportFormats, importFormats } from '../formats.ts'
import type { CommandSpec } from '../command.ts'
import { agentMeaning, dirOption, jsonOption } from './common.ts'

export const initSpec: CommandSpec = {
  name: 'init',
  group: 'Record',
  page: 'init',
  about: 'Set up a project: plugin, .gitignore, .gitattributes',
  options: [
    {
      flag: '--add <name=file#export>',
      about: 'Add this agent instead of those found (repeatable)',
      many: true,
      was: [{ flag: '--agent <name=file#export>' }],
    },
    { flag: '--dry-run', about: 'Print the changes and write nothing' },
    jsonOption,
  ],
  examples: ['init --dry-run', 'init', 'init --add refund=./src/refund-agent.ts#refundAgent'],
}

/** Named below the list of commands: it is for those who have no project yet. */
export const demoSpec: CommandSpec = {
  name: 'demo',
  isApart: true,
  about: 'Show an incident from complaint to fixed, in an empty folder, without a key',
  options: [jsonOption],
  examples: ['demo'],
}

export const recordSpec: CommandSpec = {
  name: 'record',
  group: 'Record',
  page: 'recording',
  rest: '-- <program> [arguments]',
  about: 'Run a Node program and record it',
  options: [
    { flag: '--dir <folder>', about: 'Folder of the tape [recordings/inbox]' },
    { flag: '--id <id>', about: 'Id of the tape [a new one that sorts by time]' },
    { flag: '--agent <name>', about: `${agentMeaning} [program]` },
    jsonOption,
  ],
  examples: ['record -- node agent.js', 'record --dir recordings/inbox --agent refund -- node agent.js --order A1'],
}

export const importSpec: CommandSpec = {
  name: 'import',
  group: 'Record',
  page: 'import',
  args: '<file>',
  about: 'Make tapes from recordings of other tools',
  options: [
    { flag: '--format <name>', about: `${importFormats.join(', ')} [auto: by content]` },
    { flag: '--as <id>', about: 'Id of the tape, for one file [from its name]' },
    { flag: '--agent <name>', about: `${agentMeaning} [imported]` },
    { flag: '--input <json>', about: 'Input of the agent, for one file' },
    { flag: '--redact <file>', about: "Your recorder's redact option as JSON, or a tape it wrote" },
    dirOption,
    jsonOption,
  ],
  examples: [
    `import cassettes/greeting.yaml --as greeting --agent refund --input "{}"`,
    'import cassettes --dir elsewhere --json',
  ],
}

export const exportSpec: CommandSpec = {
  name: 'export',
  group: 'Record',
  page: 'export',
  args: '<...tapes>',
  about: 'Write runs as OpenTelemetry spans, HAR or a plain trace',
  options: [
    { flag: '--format <name>', about: exportFormats.join(', ') },
    { flag: '--out <path>', about: 'File, or folder with a file for each tape [stdout]' },
    { flag: '--force', about: 'Replace existing files' },
    { flag: '--no-content', about: 'Leave out messages, arguments, results and bodies' },
    dirOption,
    jsonOption,
  ],
  examples: [
    'export latest --format otlp',
    'export refund-100x --format har --out refund.har',
    'export latest --format json --out exported/ --no-content',
  ],
}
