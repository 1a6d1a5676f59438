import { spawn } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** How a command line ended, and what it printed on both streams. */
export interface Ran {
  readonly code: number
  readonly text: string
}

/** One fenced block of a page. */
export interface Block {
  /** 1-based line of the opening fence. */
  readonly line: number
  readonly language: string
  /** Words after the language, such as `exit=1`. */
  readonly words: readonly string[]
  readonly text: string
}

export interface WalkOptions {
  /** The project the page is followed in. */
  readonly dir: string
  readonly env: NodeJS.ProcessEnv
  /** The environment of one command, where it is another. */
  readonly environmentOf?: (command: string) => NodeJS.ProcessEnv | undefined
  /** Changes a command before it runs, or drops it by returning `undefined`. */
  readonly rewrite?: (command: string) => string | undefined
  /** Runs a command line as its shell would, where it can. */
  readonly start?: (command: string, env: NodeJS.ProcessEnv) => Promise<Ran> | undefined
  readonly onBlock?: (block: Block) => void
  readonly onCommand?: (command: string) => void
  readonly onOutput?: (text: string) => void
}

/** The fenced blocks of a Markdown page, in order. */
export function blocksOf(markdown: string): readonly Block[] {
  const blocks: Block[] = []
  let open: { line: number; info: string; lines: string[] } | undefined
  for (const [i, line] of markdown.split('\n').entries()) {
    if (open && line.trim() === '```') {
      const [language = '', ...words] = open.info.split(/\s+/)
      blocks.push({ line: open.line, language, words, text: open.lines.join('\n') })
      open = undefined
    } else if (open) open.lines.push(line)
    else if (line.startsWith('```')) open = { line: i + 1, info: line.slice(3).trim(), lines: [] }
  }
  return blocks
}

/**
 * Follows a page word for word, as its reader would.
 *
 * - a block whose first line is `// path` or `# path` is written to that file; of JSON, without that line
 * - a `diff` block is applied to the file its first line names (`--- path`)
 * - a `console` block runs each line behind `$ ` and must exit with 0, or with N where the block says `exit=N`; the
 *   other lines must be found in the output, in order, where `…` stands for anything
 * - a block marked `no-run` is only shown
 * - behind a block marked `undo` the last diff is taken back
 *
 * @throws Error naming the line of the page where it does not hold
 */
export async function walk(page: string, options: WalkOptions): Promise<number> {
  const blocks = blocksOf(await readFile(page, 'utf8'))
  let diff: Block | undefined
  for (const block of blocks) {
    options.onBlock?.(block)
    if (block.language === 'diff') diff = block
    try {
      await follow(block, options)
      if (block.words.includes('undo')) await applyDiff(reversed(diff), options)
    } catch (error) {
      throw new Error(`${page}:${block.line}: ${(error as Error).message}`, { cause: error })
    }
  }
  return blocks.length
}

async function follow(block: Block, options: WalkOptions): Promise<void> {
  if (block.words.includes('no-run')) return
  if (block.language === 'console') return runConsole(block, options)
  if (block.language === 'diff') return applyDiff(block, options)
  const path = /^(?:\/\/|#) (\S+\.\w+)$/.exec(block.text.split('\n', 1)[0] ?? '')?.[1]
  if (!path) throw new Error('this block neither names its file in its first line nor is marked no-run')
  const file = join(options.dir, path)
  await mkdir(dirname(file), { recursive: true })
  // JSON has no comments: there the line that names the file is for the reader alone.
  const text = block.language === 'json' ? block.text.slice(block.text.indexOf('\n') + 1) : block.text
  await writeFile(file, `${text}\n`)
}

async function runConsole(block: Block, options: WalkOptions): Promise<void> {
  const wanted = Number(block.words.find((word) => word.startsWith('exit='))?.slice('exit='.length) ?? 0)
  const lines = block.text.split('\n')
  const commands = lines.filter((line) => line.startsWith('$ ')).map((line) => line.slice(2).replace(/\s+#.*$/, ''))
  const expected = lines.filter((line) => !line.startsWith('$ ') && line.trim() !== '')
  let output = ''
  for (const [i, command] of commands.entries()) {
    const actual = options.rewrite ? options.rewrite(command) : command
    if (actual === undefined) continue
    options.onCommand?.(command)
    const env = options.environmentOf?.(command) ?? options.env
    const { code, text } = await (options.start?.(actual, env) ?? run(actual, { ...options, env }))
    output += text
    const want = i === commands.length - 1 ? wanted : 0
    if (code !== want) throw new Error(`\`${command}\` exited with ${code}, not ${want}:\n${text}`)
  }
  findInOrder(expected, output)
}

/** Runs a command line the way a shell does. */
export function run(
  command: string,
  { dir, env, onOutput }: Pick<WalkOptions, 'dir' | 'env' | 'onOutput'>,
): Promise<Ran> {
  return new Promise((resolve, reject) => {
    // One pipe for both: what is printed first comes first, as on a terminal.
    const child = spawn(`exec 2>&1\n${command}`, { cwd: dir, env, shell: true, stdio: ['ignore', 'pipe', 'ignore'] })
    let text = ''
    const hear = (chunk: Buffer): void => {
      text += chunk.toString()
      onOutput?.(chunk.toString())
    }
    child.stdout.on('data', hear)
    child.on('error', reject)
    child.on('close', (code) => resolve({ code: code ?? 1, text }))
  })
}

function findInOrder(expected: readonly string[], output: string): void {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours
  let rest = output.replaceAll(/\u001b\[[0-9;]*m/g, '')
  for (const line of expected) {
    const pattern = line
      .trim()
      .split('…')
      .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll(/\s+/g, '\\s+'))
      .join('.*')
    const found = new RegExp(pattern, 'm').exec(rest)
    if (!found) throw new Error(`the output does not have the line "${line.trim()}":\n${output}`)
    rest = rest.slice(found.index + found[0].length)
  }
}

function reversed(diff: Block | undefined): Block {
  if (diff === undefined) throw new Error('there is no diff block to undo')
  const [head = '', ...lines] = diff.text.split('\n')
  const signs: Readonly<Record<string, string>> = { '+': '-', '-': '+' }
  const turned = lines.map((line) => (signs[line[0] ?? ''] ?? line[0] ?? '') + line.slice(1))
  return { ...diff, text: [head, ...turned].join('\n') }
}

async function applyDiff(block: Block, { dir }: WalkOptions): Promise<void> {
  const [head = '', ...lines] = block.text.split('\n')
  const path = /^--- (\S+)$/.exec(head)?.[1]
  if (!path) throw new Error('the first line of a diff block names its file: `--- path`')
  const file = join(dir, path)
  const before = lines.filter((line) => !line.startsWith('+')).map((line) => line.slice(1))
  const after = lines.filter((line) => !line.startsWith('-')).map((line) => line.slice(1))
  const text = await readFile(file, 'utf8')
  if (text.split(before.join('\n')).length !== 2) throw new Error(`the lines to change are not exactly once in ${path}`)
  await writeFile(
    file,
    text.replace(before.join('\n'), () => after.join('\n')),
  )
}
