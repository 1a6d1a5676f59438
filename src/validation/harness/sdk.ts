import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { HarvestError } from '../../errors/index.ts'

/** As much of the `openai` package as the planted agent uses. */
export interface OpenAiSdk {
  new (options: {
    readonly apiKey: string
    readonly baseURL: string
    readonly maxRetries: number
    readonly timeout: number
    readonly logLevel: 'off'
  }): OpenAiClient
}

export interface OpenAiClient {
  readonly chat: {
    readonly completions: {
      create(
        body: object,
        options: { readonly headers: Readonly<Record<string, string>>; readonly timeout?: number },
      ): Promise<ChatAnswer | AsyncIterable<ChatChunk>>
    }
  }
}

export interface ChatAnswer {
  readonly choices: readonly { readonly message: AssistantMessage }[]
}

export interface AssistantMessage {
  readonly role: 'assistant'
  readonly content: string | null
  readonly tool_calls?: readonly FunctionCall[]
}

export interface FunctionCall {
  readonly id: string
  readonly type: 'function'
  readonly function: { readonly name: string; readonly arguments: string }
}

export interface ChatChunk {
  readonly choices: readonly {
    readonly delta: {
      readonly content?: string | null
      readonly tool_calls?: readonly {
        readonly index: number
        readonly id?: string
        readonly function?: { readonly name?: string; readonly arguments?: string }
      }[]
    }
  }[]
}

/**
 * The `openai` package of the project: what is validated is what its agents use.
 *
 * @param folder - the project. Default the working directory
 * @throws HarvestError `HARVEST_VALIDATE_SDK` when the project does not have it
 */
export async function loadSdk(folder: string = process.cwd()): Promise<OpenAiSdk> {
  let found: string
  try {
    found = createRequire(join(folder, 'package.json')).resolve('openai')
  } catch (error) {
    throw new HarvestError(
      'HARVEST_VALIDATE_SDK',
      {
        what: 'The harness level needs the openai package',
        where: { folder },
        why: 'It injects faults into an agent that uses a real SDK.',
        fix: [
          'npm install --save-dev openai',
          'or validate the engine alone: npx vitest-harvest validate --level engine',
        ],
      },
      { cause: error },
    )
  }
  const loaded = (await import(pathToFileURL(found).href)) as { readonly default: OpenAiSdk & { default?: OpenAiSdk } }
  return loaded.default.default ?? loaded.default
}
