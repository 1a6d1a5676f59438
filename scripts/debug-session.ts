// npm run test:debug: the two-minute session of docs/debug.md with the packed package, in projects with Vitest 5 and 4.1, on Node
// 22, 24 and 26: typed at a terminal, as a script, and as JSON. Needs `script` of util-linux, and npm for what it installs.
// `npm run test:debug -- 5/26 4.1/22` does these alone.
import { execFileSync, spawn } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { addedRule, answersOf, commands, expected, jsonExpected, wordsOf } from './debug-session/session.ts'

const repository = resolve(import.meta.dirname, '..')
/** A conversation of another tool: nobody here has its agent. */
const chat = [
  { role: 'user', content: 'Is A-100 paid?' },
  {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'c1', type: 'function', function: { name: 'lookup_order', arguments: '{"id":"A-100"}' } }],
  },
  { role: 'tool', tool_call_id: 'c1', content: '{"paid":true}' },
]
const scratch = mkdtempSync(join(tmpdir(), 'harvest-session-'))
let failures = 0
try {
  execFileSync('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', scratch], { cwd: repository })
  const tarball = join(scratch, readdirSync(scratch).find((name) => name.endsWith('.tgz')) ?? '')
  const asked = process.argv.slice(2)
  for (const vitest of ['5', '4.1']) {
    const nodes = ['22', '24', '26'].filter((node) => asked.length === 0 || asked.includes(`${vitest}/${node}`))
    if (nodes.length === 0) continue
    const project = makeProject(vitest, tarball)
    for (const node of nodes) {
      const began = performance.now()
      const problem = await session(project, nodeOf(node))
      if (problem !== undefined) failures++
      const seconds = ((performance.now() - began) / 1000).toFixed(0)
      console.log(
        `Vitest ${vitest}, Node ${node}: ${problem ?? 'terminal, script and JSON hold, word for word'} (${seconds} s)`,
      )
    }
  }
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
process.exit(failures === 0 ? 0 : 1)

/** A project with the agent of the incident, its tape as a known-bad case, and its rule. */
function makeProject(vitest: string, tarball: string): string {
  const project = join(scratch, `vitest-${vitest}`)
  mkdirSync(join(project, 'src'), { recursive: true })
  writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }\n')
  const options = ['--no-audit', '--no-fund', '--prefer-offline', '--silent']
  execFileSync('npm', ['install', ...options, tarball, `vitest@${vitest}`], { cwd: project, stdio: 'inherit' })
  const agents = `{ refund: './src/refund-agent.ts#refundAgent' }`
  writeFileSync(
    join(project, 'vitest.config.ts'),
    `import { defineConfig } from 'vitest/config'
import { harvest } from 'vitest-harvest/plugin'
export default defineConfig({ plugins: [harvest({ agents: ${agents} })] })\n`,
  )
  for (const name of ['refund-agent.ts', 'record-refund.ts']) {
    const text = readFileSync(join(repository, 'fixtures/debug', name), 'utf8')
    writeFileSync(join(project, 'src', name), text.replace('../../src/record/index.ts', 'vitest-harvest/record'))
  }
  const inbox = join(project, 'recordings/inbox')
  mkdirSync(inbox, { recursive: true })
  const node = nodeOf('24')
  run(project, node, ['src/record-refund.ts', inbox, 'refund-100x'])
  const promote = ['promote', 'refund-100x', '--as', 'refund-100x', '--expect', 'fail', '--ok', 'refund(amount: 25)']
  run(project, node, [bin(project), ...promote])
  const file = join(project, 'recordings/golden/refund-100x.case.yaml')
  writeFileSync(file, addedRule(readFileSync(file, 'utf8')))
  rmSync(join(inbox, 'refund-100x.tape.jsonl'))
  copyFileSync(join(project, 'recordings/golden/refund-100x.tape.jsonl'), join(project, 'copy.tape.jsonl'))
  writeFileSync(join(project, 'chat.json'), JSON.stringify(chat))
  run(project, node, [bin(project), 'import', 'chat.json'])
  return project
}

function bin(project: string): string {
  return join(project, 'node_modules/vitest-harvest/dist/bin.js')
}

/** A program of this major version; npm has it. */
function nodeOf(major: string): string {
  const asked = ['-y', '-p', `node@${major}`, 'node', '-p', 'process.execPath']
  return execFileSync('npx', asked, { cwd: tmpdir(), encoding: 'utf8' }).trim().split('\n').at(-1) ?? ''
}

function run(project: string, node: string, args: readonly string[]): string {
  return execFileSync(node, args, {
    cwd: project,
    env: environment(node),
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

function environment(node: string): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !/^(VITEST|NODE_OPTIONS|FORCE_COLOR|CI$|npm_)/.test(name))
  return {
    ...Object.fromEntries(own),
    PATH: [dirname(node), process.env['PATH'] ?? ''].join(':'),
    TERM: 'xterm',
    NO_COLOR: '1',
  }
}

/** What does not hold. */
async function session(project: string, node: string): Promise<string | undefined> {
  const typed = wordsOf(await atTerminal(project, node))
  const missing = expected.find((line, at) => typed[at] !== line)
  if (missing !== undefined || typed.length !== expected.length) {
    const at = typed.findIndex((line, index) => line !== expected[index])
    return `at a terminal, line ${at + 1} is\n  ${typed[at] ?? '(none)'}\nand not\n  ${expected[at] ?? '(none)'}\n\n${typed.join('\n')}`
  }
  const asked = [bin(project), 'debug', 'refund-100x']
  const script = await output(project, node, [...asked, '-x', commands.join('; ')])
  const answers = answersOf(typed)
  const said = wordsOf(script.text)
  const other = answers.findIndex((line, at) => said[at] !== line)
  if (other >= 0 || said.length !== answers.length)
    return `as a script, line ${other + 1} is\n  ${said[other] ?? '(none)'}\nand not\n  ${answers[other] ?? '(none)'}`
  // One of the commands is wrong on purpose: a read of a recorded clock is refused.
  if (script.code !== 2) return `the script ends with ${script.code}`
  const json = await output(project, node, [...asked, '--json', '-x', commands.join('; ')])
  const values = json.text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as object)
  const differs = jsonExpected.find(([at, fields]) => !isMatch(values[at], fields))
  if (values.length === commands.length && differs === undefined) return withoutAgent(project, node)
  return `JSON differs at command ${(differs?.[0] ?? 0) + 1}:\n${json.text}`
}

/** Stopping in the code says that no agent is here; what stands behind it is done, and the debugger ends. */
async function withoutAgent(project: string, node: string): Promise<string | undefined> {
  const { code, text } = await output(project, node, [bin(project), 'debug', 'chat', '-x', 'code; inspect'])
  const isSaid = text.startsWith('No agent to run this tape with: it was imported from chat\n')
  return isSaid && text.includes('{"paid":true}') && code === 2
    ? undefined
    : `without an agent it says\n${text}and ends with ${code}`
}

/** Whether a value has these members. */
function isMatch(value: object | undefined, fields: object): boolean {
  return Object.entries(fields).every(([name, field]) => isDeepStrictEqual(Reflect.get(value ?? {}, name), field))
}

async function output(project: string, node: string, args: readonly string[]) {
  const child = spawn(node, args, { cwd: project, env: environment(node), stdio: ['ignore', 'pipe', 'pipe'] })
  let [text, errors] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (errors += chunk))
  const code = await new Promise<number | null>((ended, failed) => child.once('error', failed).once('close', ended))
  if (text === '' && errors !== '') throw new Error(errors)
  return { code, text }
}

/** Types each command once the prompt is there. */
async function atTerminal(project: string, node: string): Promise<string> {
  const command = [node, bin(project), 'debug', 'refund-100x'].map((word) => `'${word}'`).join(' ')
  const child = spawn('script', ['-qec', command, '/dev/null'], { cwd: project, env: environment(node) })
  let text = ''
  let prompts = 0
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
    const seen = [...text.matchAll(/\(\d+\/10(?: code\*?)?\) /g)].length
    while (prompts < seen && prompts < commands.length) child.stdin.write(`${commands[prompts++]}\r`)
  })
  const code = await new Promise<number | null>((ended, failed) => child.once('error', failed).once('close', ended))
  return `${text}\nexit code ${code}`
}
