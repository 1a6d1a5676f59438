import { ids, lines, names } from './alike.ts'
import { filled, numbers } from './draw.ts'
import { commands, named, surroundings, vendors } from './formats.ts'

/** How a secret is told: by itself, by what stands around it, by its name. */
export type SecretClass = 'itself' | 'surroundings' | 'name'

export interface Secret {
  readonly class: SecretClass
  /** Unique. */
  readonly id: string
  /** The name it stands under. */
  readonly name: string
  /** As it stands there, with what surrounds it. */
  readonly text: string
  /** What of it must be nowhere afterwards. */
  readonly core: string
}

/** One secret of every kind. */
export function secrets(seed: number): readonly Secret[] {
  const next = numbers(seed)
  const drawn = (kind: SecretClass, id: string, name: string, form: string): Secret => {
    const marked = filled(form, next)
    const text = marked.replace(/[«»]/g, '')
    return { class: kind, id, name, text, core: /«([^»]*)»/.exec(marked)?.[1] ?? text }
  }
  return [
    ...vendors.map(([id, form]) => drawn('itself', id, 'note', form)),
    ...surroundings.map(([id, form]) => drawn('surroundings', id, 'note', form)),
    ...commands.flatMap((words, at) => {
      const [command = '', ...args] = words
      const id = `command ${at + 1}, ${command},`
      const inLine = words.map((word) => (word === '' || /[\s&]/.test(word) ? `"${word}"` : word))
      const items = args.map((word) => `\n  - ${/^[\w.«»-][\w.:/«»-]*$/.test(word) ? word : JSON.stringify(word)}`)
      // More than its program could be looked for in at first.
      const long = [...args, '--note', 'which is long, '.repeat(20)]
      return [
        drawn('surroundings', `${id} in a line`, 'note', inLine.join(' ')),
        drawn('surroundings', `${id} in lines that go on`, 'note', inLine.join(' \\\n    ')),
        drawn('surroundings', `${id} in a list`, 'note', JSON.stringify(words)),
        drawn('surroundings', `${id} with its arguments`, 'note', JSON.stringify({ command, args })),
        // Without its program, a list is known by an option.
        ...(args.some(
          (word, nth) => word.includes('«') && (word.startsWith('-') || /^-(?!c$)/.test(args[nth - 1] ?? '')),
        )
          ? [drawn('surroundings', `${id} behind its arguments`, 'note', JSON.stringify({ args: long, command }))]
          : []),
        drawn('surroundings', `${id} in items of YAML`, 'note', `command: [${command}]\nargs:${items.join('')}\n`),
      ]
    }),
    ...named.map(([name, form]) => drawn('name', `name ${name}`, name, form)),
  ]
}

/** A text without a secret. */
export interface Alike {
  readonly id: string
  readonly text: string
}

/** Every look-alike in the places such things stand. */
export function lookAlikes(seed: number): readonly Alike[] {
  const next = numbers(seed + 100)
  const json = JSON.stringify
  return [
    ...ids.flatMap(([id, form]): Alike[] => {
      const text = filled(form, next)
      return [
        { id: `${id} in a sentence`, text: `We looked at ${text} today.` },
        { id: `${id} in JSON`, text: json({ ref: text, hash: text, done: false }) },
        { id: `${id} in JSON in JSON`, text: json({ arguments: json({ ref: text }) }) },
        { id: `${id} as a variable`, text: `LAST_REF=${text}\n` },
        { id: `${id} in a query`, text: `https://shop.example/items?ref=${encodeURIComponent(text)}&page=2` },
      ]
    }),
    ...names.flatMap(([name, value]): Alike[] => {
      const plain = /^(?:\d+|true|false)$/.test(value) ? (JSON.parse(value) as number | boolean) : value
      return [
        { id: `${name}=${value} in JSON`, text: json({ id: 7, [name]: plain }) },
        { id: `${name}=${value} in JSON in JSON`, text: json({ arguments: json({ [name]: value }) }) },
        { id: `${name}=${value} in YAML`, text: `job:\n  ${name}: ${value}\n` },
        { id: `${name}=${value} as a pair`, text: json([{ name, value }]) },
        { id: `${name}=${value} in XML`, text: `<job><${name}>${value}</${name}></job>` },
      ]
    }),
    ...lines.flatMap((line): Alike[] => {
      const text = filled(line, next)
      const inJson = json({ content: text })
      return [
        { id: line, text },
        { id: `${line} in JSON`, text: inJson },
        {
          id: `${line} with escapes`,
          text: inJson.replace(/[<>/']/g, (sign) =>
            sign === '/' ? '\\/' : `\\u00${sign.charCodeAt(0).toString(16).padStart(2, '0')}`,
          ),
        },
      ]
    }),
  ]
}

/** How many kinds of look-alikes there are. */
export const alikeKinds = ids.length + names.length + lines.length
