import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { built } from '../support/built.ts'
import { call, exchange, tapeText, type TapeParts } from '../recordings/make.ts'
import { canaries } from '../privacy/canaries.ts'
import { type Answered, scratch, warmHarvest as harvest } from './harvest.ts'

const secret = canaries['anthropic-key']![0]!
const email = 'jane.doe@mail.example.com'

describe('harvest check', () => {
  it('says nothing but how much it saw when all is well', async () => {
    const cwd = project({ ...golden('a'), ...golden('group/b') })
    expect(await harvest(['check'], { cwd })).toEqual({
      code: 0,
      stdout: '4 files checked, nothing to fix\n',
      stderr: '',
    })
  })

  it('checks a file where no recordings are', async () => {
    const cwd = scratch()
    writeFileSync(join(cwd, 'a.tape.jsonl'), tapeText())
    const { code, stdout, stderr } = await harvest(['check', 'a.tape.jsonl'], { cwd })
    expect([code, stderr]).toEqual([1, ''])
    expect(stdout).toContain('No case asserts anything about this tape')
  })

  it('tells every mistake of a case, with file and line', async () => {
    const cwd = project({
      ...golden('a'),
      'recordings/golden/a.case.yaml': 'case: a\nagent: refund\ntape: a.tape.jsonl\nexpect: maybe\ntitel: x\n',
    })
    const { code, stdout } = await harvest(['check'], { cwd })
    expect(code).toBe(1)
    expect(stdout).toMatchInlineSnapshot(`
      "recordings/golden/a.case.yaml:4  The case file has 2 issues
        4:9  expect
          expected  one of pass, fail
          found     "maybe"
        5:1
          expected  one of case, agent, tape, expect, title, tags, lesson, pins, match, drift, escapes, serve, tools, timeout, baseline, messages, marks, states, rules, outcome, oracle, ok, bad, constants, approved, accepted, proven, replaces, history
          found     the key "titel"
          → did you mean title?
        → to see what was edited: git diff -- recordings/golden/a.case.yaml
        (HARVEST_CASE_INVALID)

      2 files checked, 1 issue to fix
      "
    `)
  })

  it('finds what is wrong with each file of a golden set', async () => {
    const cwd = project({
      ...golden('fine'),
      ...golden('no-tape'),
      ...golden('one'),
      ...golden('group/one'),
      ...golden('pragma', { more: `title: use ${'@'}vitest-environment jsdom\n` }),
      'recordings/golden/no-case.tape.jsonl': tapeText(),
      'recordings/golden/notes.txt': `ask ${email}\n`,
      'recordings/inbox/left-alone.tape.jsonl': 'no tape',
    })
    rmSync(join(cwd, 'recordings/golden/no-tape.tape.jsonl'))
    symlinkSync('fine.tape.jsonl', join(cwd, 'recordings/golden/link.tape.jsonl'))
    expect(await found(cwd)).toEqual({
      code: 1,
      findings: [
        'recordings/golden/group/one.case.yaml:1 HARVEST_CASE_DUPLICATE_ID',
        'recordings/golden/link.tape.jsonl HARVEST_CHECK_LINK',
        'recordings/golden/no-case.tape.jsonl HARVEST_TAPE_OBSOLETE',
        'recordings/golden/no-tape.case.yaml:3 HARVEST_CASE_TAPE_MISSING',
        'recordings/golden/notes.txt:1 HARVEST_CHECK_SECRET',
        'recordings/golden/pragma.case.yaml:5 HARVEST_CASE_PRAGMA',
      ],
    })
  })

  it('a tape that cannot be replayed is exit code 3, whatever else was found', async () => {
    const whole = tapeText({ events: [call(1, 'a', {}), call(3, 'b', {})] })
    const broken = {
      tampered: whole.replace('"b"', '"c"'),
      truncated: tapeText({ close: null }),
      incomplete: tapeText({ close: { incomplete: 'disk full' } }),
      newer: tapeText({ header: { harvest: 99 } }),
      empty: '',
      text: 'hello\n',
    }
    const files = Object.entries(broken).flatMap(([id, tape]) => Object.entries(golden(id, { tape })))
    const cwd = project({ ...Object.fromEntries(files), 'recordings/golden/no-case.tape.jsonl': tapeText() })
    const { code, findings } = await found(cwd)
    expect(code).toBe(3)
    expect(findings).toEqual([
      'recordings/golden/empty.tape.jsonl HARVEST_TAPE_EMPTY',
      'recordings/golden/incomplete.tape.jsonl HARVEST_PROMOTE_INCOMPLETE',
      'recordings/golden/newer.tape.jsonl:1 HARVEST_TAPE_VERSION',
      'recordings/golden/no-case.tape.jsonl HARVEST_TAPE_OBSOLETE',
      'recordings/golden/tampered.tape.jsonl:3 HARVEST_TAPE_TAMPERED',
      'recordings/golden/text.tape.jsonl:1 HARVEST_TAPE_LINE',
      'recordings/golden/truncated.tape.jsonl HARVEST_PROMOTE_TRUNCATED',
    ])
  })

  it('a value of the source that a case names passes, and what the finders of an old tape left is told', async () => {
    const constants = `constants:\n  redacted-1@email.invalid: ${email}\n`
    const left = tapeText({ events: [call(1, 'login', { token: 'K7fq2Zr9Xv4Tn8Wb' })] })
    const cwd = project({ ...golden('named', { more: constants }), ...golden('old', { tape: left }) })
    expect(await found(cwd)).toEqual({ code: 1, findings: ['recordings/golden/old.tape.jsonl:2 HARVEST_CHECK_SECRET'] })
    const again = project(golden('other', { more: `constants:\n  redacted-1@email.invalid: x\ntitle: ask ${email}\n` }))
    expect((await found(again)).findings).toEqual(['recordings/golden/other.case.yaml:7 HARVEST_CHECK_SECRET'])
  })

  it('a large tape is a warning, one above --max-size an error', async () => {
    const tape = tapeText({ events: [call(1, 'read', 'x'.repeat(2 * 1024 * 1024))] })
    const cwd = project(golden('a', { tape }))
    const warned = await harvest(['check'], { cwd })
    expect(warned).toMatchObject({ code: 0, stderr: '' })
    expect(warned.stdout).toContain('a.tape.jsonl  warning: This tape has 2 MB\n')
    const refused = await harvest(['check', '--max-size', '1.5mb'], { cwd })
    expect(refused.stdout).toContain('This tape has 2 MB: the limit is 1.5 MB')
    expect(refused.code).toBe(1)
  })

  it.each([
    ['a size that is none', ['--max-size', 'much'], 'HARVEST_CLI_ARGUMENT'],
    ['a kind nobody knows', ['--allow', 'emial'], 'HARVEST_CLI_ARGUMENT'],
    ['a file that is not there', ['recordings/golden/x.case.yaml'], 'HARVEST_CHECK_MISSING'],
    ['a folder that is not there', ['--dir', 'recordigns'], 'HARVEST_CHECK_MISSING'],
    ['--staged outside of a repository', ['--staged'], 'HARVEST_GIT_INDEX'],
  ])('%s is exit code 2', async (_, args, message) => {
    const { code, stdout, stderr } = await harvest(['check', ...args], { cwd: project(golden('a')) })
    expect(stderr).toContain(message)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  })

  it('only the files named are judged, beside what lies around them', async () => {
    const cwd = project({
      ...golden('one'),
      ...golden('group/one'),
      'recordings/golden/no-case.tape.jsonl': 'no tape',
      'src/agent.ts': 'export {}',
    })
    expect(await found(cwd, ['./recordings/golden/one.case.yaml', 'src/agent.ts'])).toEqual({
      code: 1,
      findings: ['recordings/golden/one.case.yaml:1 HARVEST_CASE_DUPLICATE_ID'],
    })
  })
})

describe('a secret is found', () => {
  const gzipped = gzipSync(JSON.stringify({ text: secret })).toString('base64')
  const answer = exchange(1, '{}', [])
  const packed = {
    ...answer,
    response: {
      ...answer.response!,
      headers: [['content-encoding', 'gzip'] as const],
      chunks: [[3, 3, { base64: gzipped }] as const],
    },
  }
  const withHeader = { ...answer, request: { headers: [['x-api-key', 'opaque words']] as const } }
  const places: Readonly<Record<string, TapeParts>> = {
    'the arguments of a tool': { events: [call(1, 'login', { key: secret })] },
    'a field that is called chunks': { events: [call(1, 'login', { chunks: secret })] },
    'a value under a telling name': { events: [call(1, 'login', { password: 'opaque words' })] },
    'bytes a tool was given': {
      events: [call(1, 'put', { $type: 'bytes', base64: Buffer.from(secret).toString('base64') })],
    },
    'an answer that came in pieces': {
      events: [exchange(1, '{}', [`{"a":"${secret.slice(0, 20)}`, `${secret.slice(20)}"}`])],
    },
    'a compressed answer': { events: [packed] },
    'a header nobody may record': { events: [withHeader] },
    'the command line': { header: { command: { argv: ['node', 'agent.js', secret], cwd: '.' } } },
    'a tape that forbids to look': {
      header: { redact: { off: ['anthropic-key', 'secret'] } },
      events: [call(1, 'login', secret)],
    },
  }
  it('wherever it stands in a tape, and is never shown', async () => {
    const names = Object.keys(places)
    const files = Object.values(places).flatMap((parts, i) =>
      Object.entries(golden(`t${i}`, { tape: tapeText(parts) })),
    )
    const cwd = project(Object.fromEntries(files))
    const { code, findings } = await found(cwd)
    expect(findings).toEqual(
      names.map((_, i) => expect.stringMatching(`golden/t${i}.tape.jsonl.* HARVEST_CHECK_SECRET`)),
    )
    expect(code).toBe(1)
  })

  it('in the text of a case, in its mistakes, and in the name of a file', async () => {
    const cwd = project({
      ...golden('a', { more: `title: mail ${email}\n` }),
      ...golden('b', { more: `${secret}: x\n` }),
      [`recordings/golden/${secret}.tape.jsonl`]: tapeText(),
      'recordings/golden/odd\n::error::name.tape.jsonl': tapeText(),
    })
    const people = await harvest(['check'], { cwd })
    const programs = await harvest(['check', '--json'], { cwd })
    const named = await harvest(['check', `recordings/golden/${secret}.tape.jsonl`], { cwd })
    expect(named.stdout).toContain('add --allow-secret anthropic-key to the command')
    for (const { stdout, stderr } of [people, programs, named]) {
      expect(stdout + stderr).not.toContain(secret.slice(10, 30))
      expect(stdout + stderr).not.toContain('jane.doe')
      expect(stdout + stderr).not.toMatch(/^\s*::error/m)
    }
    expect(people.stdout).toContain(
      'recordings/golden/a.case.yaml:5  This case holds what looks like a secret\n  line 5: email',
    )
    expect(people.stdout).toContain('name of the file: anthropic-key')
    expect((JSON.parse(programs.stdout) as { findings: unknown[] }).findings).toHaveLength(6)
  })

  it('unless its kind is none here', async () => {
    const cwd = project(golden('a', { more: `title: mail ${email}\n` }))
    expect((await harvest(['check'], { cwd })).code).toBe(1)
    expect((await harvest(['check', '--allow', 'email'], { cwd })).code).toBe(0)
  })
})

describe('where git turns line ends', () => {
  const clone = (from: string): string => {
    const to = join(scratch(), 'clone')
    git(dirname(to), '-c', 'core.autocrlf=true', 'clone', '-q', from, to)
    return to
  }
  const committed = async (files: Readonly<Record<string, string>>): Promise<string> => {
    const cwd = repository({ ...golden('a'), ...files })
    git(cwd, 'add', '.')
    git(cwd, '-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'tapes')
    return cwd
  }

  it('a tape comes through a clone with what init writes, and not without', async () => {
    const [kept, turned] = [await committed({}), await committed({ '.gitattributes': '' })]
    const tape = 'recordings/golden/a.tape.jsonl'
    expect(readFileSync(join(clone(kept), tape), 'utf8')).toBe(readFileSync(join(kept, tape), 'utf8'))
    const broken = clone(turned)
    expect(readFileSync(join(broken, tape), 'utf8')).toContain('\r\n')
    expect(await found(broken)).toEqual({
      code: 3,
      findings: [`${tape}:1 HARVEST_TAPE_LINE`, '.gitattributes HARVEST_CHECK_LINE_ENDS'],
    })
  })

  it('check says so before anything is broken, and does not stop the commit', async () => {
    const cwd = repository({ ...golden('a'), '.gitattributes': '* text=auto\n' })
    const { code, stdout } = await harvest(['check'], { cwd })
    expect([code, stdout]).toEqual([0, expect.stringContaining('Git may convert the line endings of tapes')])
    for (const attributes of ['*.tape.jsonl -text\n', '* text=auto eol=lf\n', 'recordings/** binary\n']) {
      writeFileSync(join(cwd, '.gitattributes'), attributes)
      expect((await harvest(['check'], { cwd })).stdout).toBe('2 files checked, nothing to fix\n')
    }
  })
})

describe('harvest check --staged', () => {
  it('judges what is staged, not what lies in the work tree', async () => {
    const cwd = repository({ ...golden('a'), ...golden('b', { more: `title: ${email}\n` }) })
    git(cwd, 'add', '.')
    // Mended, but not staged; and broken, but not staged.
    write(cwd, golden('b'))
    writeFileSync(join(cwd, 'recordings/golden/a.tape.jsonl'), 'broken')
    expect(await found(cwd, ['--staged'])).toEqual({
      code: 1,
      findings: ['recordings/golden/b.case.yaml:5 HARVEST_CHECK_SECRET'],
    })
    git(cwd, 'add', 'recordings/golden/b.case.yaml')
    expect(await harvest(['check', '--staged'], { cwd })).toMatchObject({ code: 0 })
  })

  it('only what changes, and the other half of it', async () => {
    const cwd = repository({ ...golden('a'), ...golden('b'), ...golden('c'), ...golden('d') })
    // Was committed before anybody checked.
    writeFileSync(join(cwd, 'recordings/golden/old.tape.jsonl'), 'no tape')
    git(cwd, 'add', '.')
    commit(cwd)
    write(cwd, golden('new'))
    git(cwd, 'add', 'recordings/golden/new.case.yaml')
    git(cwd, 'rm', '-q', 'recordings/golden/a.tape.jsonl', 'recordings/golden/b.case.yaml')
    writeFileSync(join(cwd, 'recordings/golden/c.case.yaml'), caseText('c', 'd.tape.jsonl'))
    write(cwd, { 'recordings/golden/alone.tape.jsonl': tapeText(), 'recordings/inbox/fresh.tape.jsonl': tapeText() })
    git(cwd, 'add', 'recordings')
    git(cwd, 'reset', '-q', 'recordings/golden/new.tape.jsonl')
    symlinkSync('/etc/hosts', join(cwd, 'recordings/golden/link.case.yaml'))
    git(cwd, 'add', 'recordings/golden/link.case.yaml')
    expect(await found(cwd, ['--staged'])).toEqual({
      code: 1,
      findings: [
        'recordings/golden/a.case.yaml:3 HARVEST_CASE_TAPE_MISSING',
        'recordings/golden/alone.tape.jsonl HARVEST_TAPE_OBSOLETE',
        'recordings/golden/b.tape.jsonl HARVEST_TAPE_OBSOLETE',
        'recordings/golden/c.tape.jsonl HARVEST_TAPE_OBSOLETE',
        'recordings/golden/link.case.yaml HARVEST_CHECK_LINK',
        'recordings/golden/new.case.yaml:3 HARVEST_CASE_TAPE_MISSING',
        'recordings/inbox/fresh.tape.jsonl HARVEST_CHECK_INBOX',
      ],
    })
  })

  it('every folder of recordings of the repository, whatever files are called', async () => {
    const cwd = repository({
      'packages/shop/recordings/golden/--output=x.tape.jsonl': tapeText(),
      'packages/a b/recordings/golden/ä "q".tape.jsonl': tapeText(),
      'packages/shop/tapes/elsewhere.tape.jsonl': 'no tape',
    })
    git(cwd, 'add', '.')
    const whole = await found(join(cwd, 'packages/shop'), ['--staged'])
    expect(whole.findings).toEqual([
      'packages/a b/recordings/golden/ä "q".tape.jsonl HARVEST_TAPE_OBSOLETE',
      'packages/shop/recordings/golden/--output=x.tape.jsonl HARVEST_TAPE_OBSOLETE',
    ])
    const one = await found(join(cwd, 'packages/shop'), ['--staged', '--dir', 'tapes'])
    expect(one).toMatchObject({
      code: 3,
      findings: [expect.anything(), 'packages/shop/tapes/elsewhere.tape.jsonl:1 HARVEST_TAPE_LINE'],
    })
    const named = await found(join(cwd, 'packages/shop'), ['--staged', '../a b/recordings/golden/ä "q".tape.jsonl'])
    expect(named.findings).toHaveLength(1)
  })

  // The lines of docs/check.md.
  it('as a pre-commit hook stops a commit with a planted secret, however it is made', {
    tags: 'thorough',
  }, async () => {
    const cwd = repository(golden('a'))
    git(cwd, 'add', '.')
    commit(cwd)
    const hook = /```sh no-run\n(#!\/bin\/sh\n[^`]+)```/.exec(readFileSync('docs/check.md', 'utf8'))?.[1] ?? ''
    expect(hook).toContain('npx vitest-harvest check --staged')
    const script = hook.replace('npx vitest-harvest', `"${process.execPath}" "${built('cli/main.js')}"`)
    writeFileSync(join(cwd, '.git/hooks/pre-commit'), script)
    chmodSync(join(cwd, '.git/hooks/pre-commit'), 0o755)

    write(cwd, golden('a', { more: `title: ask ${email}\n` }))
    const ways = [
      ['commit', '-qam', 'all'],
      ['commit', '-qm', 'one', 'recordings/golden/a.case.yaml'],
      ['commit', '-qm', 'one more', '--include', 'recordings/golden/a.case.yaml'],
    ]
    for (const way of ways) {
      const { failed, output } = attempt(cwd, ...way)
      expect(output).toContain('recordings/golden/a.case.yaml:5  This case holds what looks like a secret')
      expect({ way, failed }).toEqual({ way, failed: true })
    }
    expect(git(cwd, 'rev-list', '--count', 'HEAD').trim()).toBe('1')

    write(cwd, golden('a', { more: 'title: ask somebody\n' }))
    expect(attempt(cwd, 'commit', '-qam', 'clean')).toMatchObject({ failed: false })
    expect(git(cwd, 'rev-list', '--count', 'HEAD').trim()).toBe('2')
  })
})

interface Golden {
  readonly tape?: string
  /** Appended to the case. */
  readonly more?: string
}

/** A case and its tape, as files of a project. */
function golden(name: string, { tape = tapeText(), more = '' }: Golden = {}): Record<string, string> {
  const id = name.split('/').at(-1) ?? name
  return {
    [`recordings/golden/${name}.case.yaml`]: caseText(id, `${id}.tape.jsonl`) + more,
    [`recordings/golden/${name}.tape.jsonl`]: tape,
  }
}

function caseText(id: string, tape: string): string {
  return `case: ${id}\nagent: refund\ntape: ${tape}\nexpect: pass\n`
}

function project(files: Readonly<Record<string, string>>): string {
  const folder = scratch()
  write(folder, files)
  return folder
}

function repository(files: Readonly<Record<string, string>>): string {
  const folder = project({ '.gitattributes': '*.tape.jsonl -text\n', ...files })
  git(folder, 'init', '-q')
  return folder
}

function write(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), text)
  }
}

function git(cwd: string, ...args: readonly string[]): string {
  const who = ['-c', 'user.name=Somebody', '-c', 'user.email=somebody@example.com', '-c', 'commit.gpgsign=false']
  return execFileSync('git', [...who, ...args], { cwd, encoding: 'utf8', stdio: 'pipe' })
}

function commit(cwd: string): void {
  git(cwd, 'commit', '-q', '--no-verify', '-m', 'a commit')
}

function attempt(cwd: string, ...args: readonly string[]): { failed: boolean; output: string } {
  try {
    return { failed: false, output: git(cwd, ...args) }
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string }
    return { failed: true, output: stdout + stderr }
  }
}

/** What `--json` says, as `file:line CODE`. */
async function found(
  cwd: string,
  args: readonly string[] = [],
): Promise<{ code: Answered['code']; findings: string[] }> {
  const { code, stdout } = await harvest(['check', '--json', ...args], { cwd })
  const { findings } = JSON.parse(stdout) as { findings: { code: string; file: string; line?: number }[] }
  return {
    code,
    findings: findings.map((one) => `${one.file}${one.line === undefined ? '' : `:${one.line}`} ${one.code}`),
  }
}
