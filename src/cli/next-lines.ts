import type { Screen } from '../report/output.ts'
import type { CommandSpec } from './command.ts'
import { nameOf, takesValue } from './parse.ts'
import { type OptionChanges, typedAgain } from './typed-again.ts'

/**
 * A next step that names options alone, `→ to allow more: --max-cost 5`, as the command to paste: what was typed, with
 * those. Rooms below know which option helps; only here is known what was typed.
 */
export function asCommand(line: string, spec: CommandSpec | undefined): string {
  const [, before, about, options, after] =
    /^((?:\u001b\[[\d;]*m)*)(\s*→ .*[:?] )(--[a-z].*?)((?:\u001b\[[\d;]*m)*)$/.exec(line) ?? []
  const changes = options === undefined ? undefined : changesIn(options, spec)
  return changes === undefined ? line : `${before}${about}${typedAgain(changes)}${after}`
}

/** The same of each line. */
export function asCommands(text: string, spec: CommandSpec | undefined): string {
  return text
    .split('\n')
    .map((line) => asCommand(line, spec))
    .join('\n')
}

/** A screen whose next steps can be pasted. */
export function withNextCommands(screen: Screen, spec: CommandSpec): Screen {
  return {
    ...screen,
    line: (text = '') => screen.line(asCommands(text, spec)),
    note: (text) => screen.note(asCommands(text, spec)),
  }
}

/**
 * Of `--max-tokens 100000, without --max-cost`. `undefined` where the text says more than options of this command, each
 * once: examples, sentences.
 */
function changesIn(text: string, spec: CommandSpec | undefined): OptionChanges | undefined {
  const [, set = '', unset = ''] = /^(.*?)(?:, without (--[a-z-]+(?: and --[a-z-]+)*))?$/.exec(text) ?? []
  const optionOf = (word: string) => spec?.options.find(({ flag }) => nameOf(flag) === word)
  const changes: Record<string, string | boolean | undefined> = {}
  for (const [word] of unset.matchAll(/--[a-z-]+/g))
    changes[word.slice(2)] = takesValue(optionOf(word)?.flag ?? '') ? undefined : false
  const words = [...set.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    ([, single, double, plain]) => single ?? double ?? plain ?? '',
  )
  while (words.length > 0) {
    const word = words.shift() ?? ''
    const option = optionOf(word)
    if (option === undefined || word.slice(2) in changes) return undefined
    const value = takesValue(option.flag) ? words.shift() : true
    if (value === undefined) return undefined
    changes[word.slice(2)] = value
  }
  return changes
}
