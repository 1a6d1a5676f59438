// Over 300 lines: one schema, as data.
/**
 * The part of JSON Schema (draft 7) that describes a case file. The validator in `validate.ts` walks the same object
 * that editors get, so that what completes is what loads.
 */
export interface SchemaRule {
  readonly $schema?: string
  readonly title?: string
  readonly description?: string
  readonly type?: 'object' | 'array' | 'string' | 'boolean' | 'integer' | 'number'
  readonly enum?: readonly string[]
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly pattern?: string
  /** What a text that misses the pattern should have been; editors show it too. */
  readonly patternErrorMessage?: string
  readonly properties?: Readonly<Record<string, SchemaRule>>
  readonly required?: readonly string[]
  readonly additionalProperties?: false | SchemaRule
  readonly items?: SchemaRule
  readonly minItems?: number
  /** Arms have different types: the type of a value decides which arm it is held against. */
  readonly anyOf?: readonly SchemaRule[]
}

// Device names open a device on Windows no matter which folder and ending they are given.
const noDevice = '(?!(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\\.|$))'
const idPattern = `^${noDevice}[a-z0-9][a-z0-9._-]{0,127}$`
const idMeaning =
  'a slug: lower-case letters, digits, ".", "_" and "-", at most 128, beginning with a letter or digit, and no device name of Windows'

const text = { type: 'string' } as const
const words = { type: 'array', items: { type: 'string', minLength: 1 } } as const
const drift = { type: 'string', enum: ['ignore', 'report', 'unproven', 'fail'] } as const
const args = { type: 'string', enum: ['keys', 'exact', 'ignore', 'subset', 'superset'] } as const

const steps = { type: 'array', minItems: 1, items: { type: 'integer', minimum: 1 } } as const

/** A changed question that a person accepted, in a case. */
const acceptedChange = {
  type: 'object',
  additionalProperties: false,
  required: ['key', 'what', 'was', 'now', 'words'],
  properties: {
    key: {
      description: 'Identifies the change.',
      type: 'string',
      pattern: '^[A-Za-z0-9_-]{16}$',
      patternErrorMessage: 'the key of a change: 16 letters, digits, "-" and "_"',
    },
    what: { description: 'Class of the change, such as instructions.', type: 'string', minLength: 1 },
    was: { description: 'Digest of what was recorded.', type: 'string', minLength: 1 },
    now: { description: 'Digest of what was accepted.', type: 'string', minLength: 1 },
    words: { description: 'The change, word by word.', ...text },
    steps: {
      description: 'The only steps at which it was reviewed. Default: every step that could have it.',
      ...steps,
    },
    reason: { description: 'Why it was accepted.', ...text },
    by: { description: 'Who accepted it.', ...text },
    at: { description: 'ISO 8601.', ...text },
  },
} as const satisfies SchemaRule

/** A changed question that a person accepted for several cases, in `recordings/accepted.yaml`. */
export const sharedAcceptance = {
  ...acceptedChange,
  properties: {
    ...acceptedChange.properties,
    steps: {
      description:
        'The only cases, and tapes of hand-written tests, for which it was reviewed, with the steps. Default: all, at every step that could have it.',
      type: 'object',
      additionalProperties: steps,
    },
  },
} as const satisfies SchemaRule

/** A changed question that its model was asked, often enough to say that the agent does as recorded. */
const provenChange = {
  type: 'object',
  additionalProperties: false,
  required: ['key', 'model', 'asked', 'good', 'atLeast', 'control', 'at', 'judgedBy'],
  properties: {
    key: acceptedChange.properties.key,
    with: {
      description: 'Keys of the other changes that were asked together with it.',
      type: 'array',
      items: acceptedChange.properties.key,
    },
    model: { description: 'Models that were asked.', type: 'string', minLength: 1 },
    asked: { description: 'Asks that were judged.', type: 'integer', minimum: 1 },
    good: { description: 'Asks after which the agent did as recorded.', type: 'integer', minimum: 0 },
    atLeast: { description: 'The rate of good asks that this shows at 95 %.', type: 'number', minimum: 0 },
    control: { description: 'The same with the recorded question, such as 5/6.', type: 'string', minLength: 1 },
    at: { description: 'ISO 8601.', ...text },
    costUsd: { description: 'What the asks cost, in US dollars.', type: 'number', minimum: 0 },
    judgedBy: { description: 'What said which asks were good, with its digest.', type: 'string', minLength: 1 },
    steps: { description: 'Digest of the steps at which these changes were asked.', type: 'string', minLength: 1 },
  },
} as const satisfies SchemaRule

const tapeName = {
  type: 'string',
  pattern: `^${noDevice}[A-Za-z0-9][A-Za-z0-9._-]{0,199}\\.tape\\.jsonl$`,
  patternErrorMessage: 'the name of a .tape.jsonl file in the same folder, without a path',
} as const

/** A tape that a case had before it was fixed. */
const formerTape = {
  type: 'object',
  additionalProperties: false,
  required: ['tape', 'digest', 'expect', 'at', 'graded', 'without'],
  properties: {
    tape: { description: 'Its file, in the folder of this case.', ...tapeName },
    digest: { description: 'Digest of its last line.', type: 'string', minLength: 1 },
    expect: { description: 'What the case expected of it.', type: 'string', enum: ['pass', 'fail'] },
    at: { description: 'When it was replaced, ISO 8601.', ...text },
    commit: { description: 'Git commit it was recorded at; in quotes when it has digits only.', ...text },
    graded: { description: 'How many runs of the fixed agent were good, and by what.', type: 'string', minLength: 1 },
    without: { description: 'What the case is without the fix: code and commit.', type: 'string', minLength: 1 },
  },
} as const satisfies SchemaRule

/** JSON schema of a case file, shipped as `case.schema.json`. Its type is short: the declarations of users hold it. */
export const caseSchema: SchemaRule & { readonly properties: Readonly<Record<string, SchemaRule>> } = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'vitest-harvest case',
  description: 'What a replay of a tape must show.',
  type: 'object',
  additionalProperties: false,
  required: ['case', 'agent', 'tape', 'expect'],
  properties: {
    case: {
      description: 'Name of the case, unique in the golden set.',
      type: 'string',
      pattern: idPattern,
      patternErrorMessage: idMeaning,
    },
    agent: {
      description: 'Key of the agent in the `agents` option of the plugin.',
      type: 'string',
      pattern: '^[^\\u0000-\\u001f\\u007f]{1,200}$',
      patternErrorMessage: 'the key of an agent: one line of at most 200 characters',
    },
    tape: { description: 'Name of the tape file, in the folder of this case.', ...tapeName },
    expect: {
      description: 'pass, or fail for a known-bad incident that is not fixed yet.',
      type: 'string',
      enum: ['pass', 'fail'],
    },
    title: { description: 'What the case shows, in one sentence.', ...text },
    tags: {
      description: 'Vitest tags of the test.',
      type: 'array',
      items: {
        type: 'string',
        pattern: '^(?!(?:and|or|not)$)[A-Za-z0-9][A-Za-z0-9._/-]{0,63}$',
        patternErrorMessage: 'a tag: letters, digits, ".", "_", "/" and "-", at most 64, and not and, or, not',
      },
    },
    lesson: {
      description: 'Failure history.',
      type: 'object',
      additionalProperties: false,
      properties: {
        wrong: { description: 'What went wrong.', ...text },
        right: { description: 'What would have been right.', ...text },
      },
    },
    pins: {
      description: 'What the tape was made with.',
      type: 'object',
      additionalProperties: false,
      properties: {
        commit: { description: 'Git commit; in quotes when it has digits only.', ...text },
        dirty: { description: 'Whether there were uncommitted changes.', type: 'boolean' },
        models: { description: 'Model ids.', ...words },
        prompt: { description: 'Hash of the instructions.', ...text },
        tools: { description: 'Hash of the tool schemas.', ...text },
        node: { description: 'Node version.', ...text },
        recorder: { description: 'Version that wrote the tape.', ...text },
        accepted: {
          description: 'The code whose behaviour was accepted last; everything beside it is of the recording.',
          type: 'object',
          additionalProperties: false,
          required: ['digest'],
          properties: {
            digest: { description: 'Of the trace and the outcome of its unchanged run.', ...text },
            commit: { description: 'Git commit; in quotes when it has digits only.', ...text },
            dirty: { description: 'Whether there were uncommitted changes.', type: 'boolean' },
            models: { description: 'Model ids.', ...words },
            prompt: { description: 'Hash of the instructions.', ...text },
            tools: { description: 'Hash of the tool schemas.', ...text },
          },
        },
      },
    },
    match: {
      description: 'How the trace is compared with the baseline.',
      type: 'object',
      additionalProperties: false,
      properties: {
        trace: {
          description: 'Which calls in which order. Default causal.',
          type: 'string',
          enum: ['causal', 'strict', 'sequence', 'unordered', 'subset', 'superset'],
        },
        args: { description: 'How arguments are compared. Default keys.', ...args },
        tools: {
          description: 'How the arguments of one tool are compared.',
          type: 'object',
          additionalProperties: {
            anyOf: [
              args,
              {
                type: 'object',
                additionalProperties: false,
                required: ['args'],
                properties: { args: { description: 'A mode, or the keys that count.', anyOf: [args, words] } },
              },
            ],
          },
        },
      },
    },
    drift: {
      description: 'What differences that do not stop the replay mean for the verdict, for all classes or by class.',
      anyOf: [
        drift,
        {
          type: 'object',
          additionalProperties: false,
          properties: {
            encoding: drift,
            bookkeeping: drift,
            endpoint: drift,
            model: drift,
            instructions: drift,
            whitespace: drift,
            tools: drift,
            params: drift,
            messages: drift,
            headers: drift,
            destination: drift,
            arguments: drift,
            guards: drift,
            credentials: drift,
            agentMessages: drift,
            marks: drift,
            states: drift,
            results: drift,
            redacted: drift,
            timers: drift,
            awaits: drift,
            functions: drift,
          },
        },
      ],
    },
    escapes: {
      description:
        'What real I/O the agent needs. It is let through where `allow` in `harvest()` lists it, else the case is red.',
      type: 'object',
      additionalProperties: false,
      required: ['allow'],
      properties: { allow: { description: 'Such as `socket 127.0.0.1:5432`; `*` matches anything.', ...words } },
    },
    serve: {
      description: 'How far a request may differ from its recording. Default reworded.',
      type: 'string',
      enum: ['exact', 'canonical', 'conversation', 'reworded'],
    },
    tools: {
      description: 'Whether the code of tools and retrievers runs, to be compared with its recording. Default serve.',
      anyOf: [
        { type: 'string', enum: ['serve', 'run'] },
        {
          type: 'object',
          additionalProperties: false,
          required: ['run'],
          properties: { run: { description: 'Names of tools and retrievers; `*` for all.', ...words } },
        },
      ],
    },
    timeout: { description: 'Milliseconds the replay may take.', type: 'integer', minimum: 1, maximum: 3_600_000 },
    baseline: {
      description: 'The expected trace: one call per line, such as `refund(amount, order_id)`; `*` for any arguments.',
      type: 'array',
      items: {
        anyOf: [
          { type: 'string', minLength: 1 },
          { type: 'array', minItems: 1, items: { type: 'string', minLength: 1 } },
        ],
      },
    },
    messages: {
      description: 'Messages between agents that are expected, in order. Default those of the tape.',
      type: 'array',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['from', 'to', 'body'],
        properties: { from: text, to: text, body: { description: 'As it was sent; compared in full.' } },
      },
    },
    marks: {
      description: 'Marks that are expected, in order. Default those of the tape.',
      type: 'array',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['name'],
        properties: { name: text, data: { description: 'As it was left; compared in full.' } },
      },
    },
    states: {
      description: 'States that are other ones than on the tape. Written by updates.',
      type: 'array',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['of', 'changes'],
        properties: {
          of: { description: 'Name of the snapshot; without a call, `input` as the agent leaves it.', ...text },
          call: { description: 'Which call of its name, from 1. Default 1.', type: 'integer', minimum: 1 },
          in: { description: 'Number of the tool call on the tape that makes it.', type: 'integer', minimum: 1 },
          changes: {
            description: 'Places that are other ones than on the tape.',
            type: 'array',
            minItems: 1,
            items: {
              type: 'object',
              additionalProperties: false,
              required: ['path'],
              properties: {
                path: { description: 'JSON pointer (RFC 6901); empty for the whole.', type: 'string' },
                value: { description: 'What is there. Absent: nothing.' },
              },
            },
          },
        },
      },
    },
    rules: { description: 'Temporal rules, checked on every replay.', ...words },
    outcome: {
      description:
        'Structural match on what the agent returns; { $threw: … } on the name, message, code and status of what it throws. { $only: { … } } has no other key; { $is: … } is that value alone.',
    },
    oracle: {
      description: 'Function that says whether a run was right, for blame and fork: ./src/oracle.ts#isRight.',
      type: 'string',
      pattern: '^\\./(?!(?:.*/)?\\.\\./)[^#\\u0000-\\u001f\\u007f]{1,300}#[A-Za-z_$][A-Za-z0-9_$]{0,99}$',
      patternErrorMessage: 'a module below the folder of the project and its export, such as ./src/oracle.ts#isRight',
    },
    ok: {
      description:
        'What a good run does, such as `refund(amount: 25)` or `refunded=25`; for fix, rerun, blame, fork and proofs.',
      ...words,
    },
    bad: { description: 'What a bad run does, written like `ok`.', ...words },
    constants: {
      description:
        'Values behind placeholders of the tape that stand in the source as they are; a replay compares them.',
      type: 'object',
      additionalProperties: { type: 'string', minLength: 1 },
    },
    approved: {
      description: 'Who accepted the baseline, and why.',
      type: 'object',
      additionalProperties: false,
      properties: { reason: text, by: text, at: { description: 'ISO 8601.', ...text } },
    },
    accepted: {
      description: 'Changed questions to models that a person accepted; the recorded answers stand for them.',
      type: 'array',
      items: acceptedChange,
    },
    proven: {
      description:
        'Changed questions that were asked of their model: it answers them as well. Written by test --prove.',
      type: 'array',
      items: provenChange,
    },
    replaces: {
      description: 'Tape of the incident that this case was made for, in the folder of this case. Written by fix.',
      ...tapeName,
    },
    history: {
      description: 'The tapes this case had before, oldest first, and what showed that it was fixed. Written by fix.',
      type: 'array',
      items: formerTape,
    },
  },
}

/** Keys of a case file in the order in which they are written. */
export const caseKeys: readonly string[] = Object.keys(caseSchema.properties)

const idTest = new RegExp(idPattern, 'u')

/** Whether a text can be the id of a case, and so of its files. */
export function isCaseId(text: string): boolean {
  return idTest.test(text)
}

/** What {@link isCaseId} asks for, in words. */
export const caseIdMeaning: string = idMeaning
