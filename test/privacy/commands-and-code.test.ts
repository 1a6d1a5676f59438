import { expect, test } from 'vitest'
import { createRedactor, redactorOfTape } from '../../src/privacy/index.ts'

const key = 'sk-proj-Ab3dE5gH7jK9mN1pQ3sT5uV7wX9z'

test.each([
  ['set -gx DB_PASSWORD tr33house', 'tr33house'],
  ['set --export API_KEY "tr33house"', 'tr33house'],
  ['setenv DB_PASSWORD tr33house', 'tr33house'],
  ['FROM node\nENV DB_PASSWORD tr33house\nRUN make', 'tr33house'],
  ['http -a ada:tr33house GET https://shop.example', 'tr33house'],
  ['https --auth=ada:tr33house shop.example', 'tr33house'],
  ['zip -er -P tr33house all.zip notes', 'tr33house'],
  ['unzip -P "tr33house" all.zip', 'tr33house'],
  ['let password = Some("tr33house");', 'tr33house'],
  ['password = [[tr33house]]', 'tr33house'],
  [`refund-${key}`, key],
])('a secret of a command or of code is taken out, in a text, in JSON, and in JSON in JSON: %s', (said, secret) => {
  const nested = JSON.stringify({ arguments: JSON.stringify({ said }) })
  for (const text of [said, JSON.stringify({ said, id: 1 }), nested]) {
    const clean = createRedactor().text(text)
    expect(clean).not.toContain(secret)
    expect(clean.replace(/redacted-(?:secret|openai-key)-1/, secret)).toBe(text)
  }
})

test.each([
  'password = user.password1',
  'password: settings.DB_PASS2',
  'db_password = var.db_password1',
  'DBPassword: !Ref DBPassword1',
  '{"api_key":"sk-..."}',
  'args.password = "--password"',
  'set -x PATH /usr/local/bin2',
  'NODE_ENV password x9yz',
  'zip -r a.zip b; wget -P /tmp/downloads1 https://shop.example',
  'password: [[Password Policy]]',
  'prompt-cache-key-0123456789abcdef0123456789abcdef',
  'task-sk-learn-2024-pipeline-for-beginners',
])('what only names where a secret is, or looks like the place of one, stays: %s', (said) => {
  for (const text of [said, JSON.stringify({ said, id: 1 })]) expect(createRedactor().text(text)).toBe(text)
})

const secret = 'tr33hou5e'
const commands: readonly (readonly string[])[] = [
  ['curl', '-u', `ada:${secret}`, 'https://shop.example'],
  ['curl', '-sSu', `ada:${secret}`, 'https://shop.example/?a=1&b=2'],
  ['curl', '-X', 'POST', `-uada:${secret}`],
  ['/usr/bin/curl', '--proxy-user', `ada:${secret}`],
  ['curl.exe', `--user=ada:${secret}`],
  ['curl', '-u', `K7fq2Zr9Xv4${secret}:`],
  ['curl', '-b', `sid=${secret}`],
  ['xh', `--auth=ada:${secret}`],
  ['docker', 'exec', 'db', 'mysqldump', '-uroot', `-p${secret}`, 'shop'],
  ['docker', 'login', '--username', 'mysql', '-p', secret],
  ['skopeo', 'copy', '--src-creds', `ada:${secret}`, 'dir:a'],
  ['sshpass', '-p', secret, 'ssh', '-p', '2200', 'host1'],
  ['redis-cli', '-h', 'cache', '-a', secret],
  ['mongosh', '-u', 'ada', '-p', secret],
  ['7z', 'x', `-p${secret}`, 'all.7z'],
  ['smbclient', '-U', `ada%${secret}`],
  ['lftp', '-u', `ada,${secret}`],
  ['sqlplus', `ada/${secret}@db`],
  ['xfreerdp', `/p:${secret}`],
  ['keytool', '-storepass', secret],
  ['vault', 'login', `K7fq2Zr9Xv4${secret}`],
  ['gh', 'secret', 'set', 'KEY', '-b', secret],
  ['env', `REDISCLI_AUTH=${secret}`, 'redis-cli', 'ping'],
  ['sh', '-c', `cd shop && mysql -uroot -p${secret} shop`],
  ['htpasswd', '-bc', '.htpasswd', 'ada', secret],
  ['htpasswd', '-nbB', 'ada', secret],
  ['openssl', 'passwd', '-salt', 'pepper1', secret],
  ['redis-cli', 'AUTH', 'ada', secret],
  ['redis-cli', 'CONFIG', 'SET', 'requirepass', secret],
  ['mysqladmin', '-u', 'root', 'password', secret],
  ['net', 'user', 'ada', secret, '/add'],
  ['smbclient', '//files/shared', secret, '-U', 'ada'],
  ['kubectl', 'create', 'secret', 'generic', 'db', `--from-literal=pw=${secret}`],
  ['npm', 'config', 'set', '//npm.example/:_authToken', secret],
  ['setx', 'DB_PASSWORD', secret],
  ['sudo', 'rabbitmqctl', 'add_user', 'ada', secret],
  ['run', '--password', secret, '--fast'],
  ['run', '-password', secret],
]
const harmless: readonly (readonly string[])[] = [
  ['docker', 'run', '-p', '8080:8080', '-u', '1000:1000', 'curlimages/curl', '-s', 'http://web:8080'],
  ['docker', 'compose', '-p', 'shop1', 'up'],
  ['docker', 'login', '-u', 'build', '--password-stdin', 'registry1.example'],
  ['curl', '-s', 'http://web', '&&', 'docker', 'run', '-u', '1000:1000', 'image1'],
  ['curl', '-u', '$USER:$PASSWORD', '--user-agent', 'agent:1x2y3'],
  ['curl', '-u', 'name:password'],
  ['sshpass', '-e', 'ssh', '-p', '2200', 'host1'],
  ['mysql', '-u', 'root', '-p', 'shop2', '-P', '3306'],
  ['mongosh', '-u', 'ada', '-p', '--authenticationDatabase', 'admin1'],
  ['redis-cli', '-p', '6379', '-n', '3'],
  ['gh', 'pr', 'create', '-b', 'Closes-1234'],
  ['psql', '-p', '5432', '-U', 'app4'],
  ['mkdir', '-p', 'packages1'],
  ['openssl', 'enc', '-k', '$PASS'],
  ['openssl', 'passwd', '-salt', 'pepper1'],
  ['htpasswd', '-c', '.htpasswd1', 'ada1'],
  ['redis-cli', 'SET', 'key1', 'value1'],
  ['net', 'user', 'ada1'],
  ['smbclient', '//files/shared', '-U', 'ada1'],
  ['kubectl', 'create', 'configmap', 'app', '--from-literal=stage=prod1'],
  ['npm', 'config', 'set', 'registry', 'https://npm1.example'],
  ['sudo', '-u', 'user1', 'psql', '-d', 'shop1'],
  ['snmpwalk', '-c', 'public', 'router1'],
  ['run', '--password-file', '/run/secrets/db1'],
  ['ffmpeg', '-pass', '2', 'out1.mp4'],
]
const json = JSON.stringify
const written: readonly (readonly [string, (words: readonly string[]) => string])[] = [
  ['a list', json],
  ['a list in lines', (words) => json({ argv: words }, undefined, 2)],
  ['a program with its arguments', ([command, ...args]) => json({ command, cwd: '/shop', args })],
  ['JSON in JSON', ([command, ...args]) => json({ arguments: json({ command, args }) })],
  ['Python', (words) => `run([${words.map((word) => `'${word}'`).join(', ')}], check=True)`],
  ['JavaScript', ([first, ...rest]) => `spawn('${first}', [${rest.map((word) => `'${word}'`).join(', ')}])`],
  ['YAML', ([first, ...rest]) => `command: ${first}\nargs:\n${rest.map((word) => `  - ${json(word)}\n`).join('')}`],
  [
    'a list with its program in one of its own',
    ([command, ...args]) => json({ command: [command], env: { A: '1' }, args }),
  ],
  ['a list in deep lines in JSON', (words) => json({ body: json({ a: { b: { c: { argv: words } } } }, undefined, 8) })],
  ['a list of a Dockerfile', (words) => `FROM x\nCMD [${words.map((word) => json(word)).join(', \\\n     ')}]\n`],
  [
    'items of YAML behind a list',
    ([first, ...rest]) => `command: [${first}]\nargs:\n${rest.map((word) => `- ${json(word)} # 1\n`).join('')}`,
  ],
  ['elements', (words) => words.map((word) => `  <string>${word.replaceAll('&', '&amp;')}</string>\n`).join('')],
  ['lines that go on', (words) => words.map((word) => (/[\s$&]/.test(word) ? `"${word}"` : word)).join(' \\\n  ')],
  ['lines of PowerShell', (words) => words.map((word) => (/[\s$&]/.test(word) ? `"${word}"` : word)).join(' `\r\n  ')],
  [
    'lines of cmd in JSON',
    (words) => json({ said: words.map((word) => (/[\s&]/.test(word) ? `'${word}'` : word)).join(' ^\r\n  ') }),
  ],
  ['a line', (words) => words.map((word) => (/[\s$]/.test(word) ? `"${word}"` : word)).join(' ')],
  ['a line in JSON', (words) => json({ said: words.map((word) => (/\s/.test(word) ? `'${word}'` : word)).join(' ') })],
]

test.each(written)('the secret of a command is taken out where it stands as %s, and nothing else', (_, write) => {
  for (const words of commands) {
    const text = write(words)
    const clean = createRedactor().text(text)
    expect(clean).not.toContain(secret)
    expect(createRedactor().text(clean)).toBe(clean)
    const [before = '', after = ''] = clean.split('redacted-secret-1')
    expect(text.startsWith(before) && text.endsWith(after), clean).toBe(true)
    expect(text.slice(before.length, text.length - after.length)).toMatch(/^(?:K7fq2Zr9Xv4|sid=)?tr33hou5e$/)
  }
  for (const words of harmless) expect(createRedactor().text(write(words))).toBe(write(words))
})

test('what a URL spells of a command can be read as before', () => {
  const url = (said: string): string => `https://shop.example/?run=${encodeURIComponent(said)}`
  const clean = createRedactor().text(url(`smbclient -U "ada%${secret}" files`))
  expect(decodeURIComponent(clean)).toBe('https://shop.example/?run=smbclient -U "ada%redacted-secret-1" files')
})

const long = 'which is long, [and longer], '.repeat(100)
test.each([
  json({ args: ['-s', '-u', `ada:${secret}`], command: '/usr/bin/curl' }),
  json({ args: ['-u', `ada:${secret}`, '-H', long], cwd: '/shop', command: ['curl'] }),
  json({ args: ['-H', long, '-u', `ada:${secret}`], command: 'curl' }, undefined, 2),
  `- args:\n  - login\n  - -p\n  - ${secret}\n  command:\n  - docker\n`,
  `- args:\n  - -uroot\n  - -p${secret}\n  command: [mysql]\n`,
])('a list of arguments before its program is read as well, however long it is: %.60s', (text) => {
  expect(createRedactor().text(text)).toBe(text.replace(secret, 'redacted-secret-1'))
})

test('a program is found however far before its option it stands', () => {
  const text = `curl ${'-H "accept: text/plain" '.repeat(100)}-u ada:${secret}`
  expect(createRedactor().text(text)).toBe(text.replace(secret, 'redacted-secret-1'))
})

test.each([
  `command: >\n      tool\n      --password\n      ${secret}\n`,
  `ARGS=(\n  --password\n  ${secret}\n)`,
  `command: >\n      mysql\n      -uroot\n      -p${secret}\n`,
  `command: [tool, --password, ${secret}]`,
  `command: [mysql, -uroot, -p${secret}, shop]`,
  `tool "--password" "${secret}"`,
  `args:\n- "--password"\n- ${secret}\n`,
  `tool\0--password\0${secret}\0`,
  `echo 'ada:${secret}' | chpasswd`,
  `printf '%s' ada:${secret} | sudo chpasswd -e`,
  `chpasswd <<END\nada:${secret}\nEND`,
  `echo ${secret} | docker login -u ada --password-stdin registry.example`,
  `gh auth login --with-token <<< ${secret}`,
  `echo ${secret} | sudo -S reboot`,
  `expect "*assword:*"\nsend "${secret}\\r"`,
  `shell.expect('[Pp]assword:')\nshell.sendline('${secret}')`,
])(
  'a secret that a line break, a pipe or a dialogue parts from what tells it is taken out, in a text and in JSON: %j',
  (said) => {
    for (const text of [said, json({ said, id: 1 }), json({ arguments: json({ said }) })])
      expect(createRedactor().text(text)).toBe(text.replace(secret, 'redacted-secret-1'))
  },
)

test.each([
  'Options:\n  --password\n      The 2nd word of a pair2\n  --user',
  'Give one of:\n- --password\n- 3 attempts at most\n',
  'args:\n- --password\n    - indented2deeper\n',
  '* `--password`\n* `x2z4y6`',
  'pass --password, --token1, or nothing at all',
  '<li>--password</li>\n<li>--user2</li>',
  '  mongosh -u app1\n  mkdir -p packages1\n',
  '-mysql\n-pool1\n+mysql2',
  'cat users1.txt | chpasswd',
  'echo deploy1 | sudo tee /etc/motd1',
  'echo $TOKEN1 | gh auth login --with-token',
  'expect(label).toBe("Password 1")\nsend("hello12")',
  'openssl rsa -passin env:PASSWORD1',
])('what only looks like a command in lines stays as it is, in a text and in JSON: %j', (said) => {
  for (const text of [said, json({ said, id: 1 })]) expect(createRedactor().text(text)).toBe(text)
})

test('a tape is replayed with the finders it names: a secret that they left stays, and numbers go on as they did', () => {
  const argv = ['curl', '-u', `ada:${secret}`, 'https://shop.example']
  const numbered = ['curl', '-u', 'ada:redacted-secret-1', 'https://shop.example']
  const redacted = (flags: readonly string[]): unknown => {
    const redactor = redactorOfTape({ source: 'a', header: { flags } })
    return [redactor.json(argv), redactor.text('password=lemon7tart')]
  }
  for (const flag of ['redactor-5', 'redactor-4'])
    expect(redacted([flag])).toEqual([numbered, 'password=redacted-secret-2'])
  expect(redacted(['redactor-3'])).toEqual([numbered, 'password=redacted-secret-2'])
  expect(redacted(['redactor-2'])).toEqual([argv, 'password=redacted-secret-1'])
  expect(redacted([])).toEqual([argv, 'password=redacted-secret-1'])
})

const account = `AC${'0123456789abcdef'.repeat(2)}`
test.each([
  ['password2=lemon7tart', 'password2=redacted-secret-1', 'password2=lemon7tart'],
  ['密码：lemon7tart', '密码：redacted-secret-1', '密码：lemon7tart'],
  ["password = env.P ?? 'lemon7tart'", "password = env.P ?? 'redacted-secret-1'", "password = env.P ?? 'lemon7tart'"],
  [':6543:shop:ada:lemon7tart', ':6543:shop:ada:redacted-secret-1', ':6543:shop:ada:lemon7tart'],
  [account, account, 'redacted-twilio-key-1'],
  [
    "authorization: 'Bearer ' + token",
    "authorization: 'Bearer ' + token",
    "authorization: 'redacted-secret-1' + token",
  ],
])(
  'a tape of the third or second finders keeps what they left, and redacts what they redacted: %s',
  (text, now, before) => {
    const redacted = (flag: string): string => redactorOfTape({ source: 'a', header: { flags: [flag] } }).text(text)
    expect([redacted('redactor-5'), redacted('redactor-4')]).toEqual([now, now])
    expect([redacted('redactor-3'), redacted('redactor-2')]).toEqual([before, before])
  },
)

/** Found since the fifth version: `W` is the secret. */
const found = [
  'password = env.P ?? `W`',
  "password ??= 'W'",
  'password ||= "W"',
  "if (password !== 'W')",
  "const password = process.env.P ? process.env.P : 'W'",
  "password: process.env.P ?? process.env.Q ?? 'W'",
  "password = this.config.get<string>('P', 'W')",
  "password: str = os.environ.get('P', 'W')",
  'let password = env::var("P").unwrap_or("W".to_string());',
  'String password = System.getenv().getOrDefault("P", "W");',
  'DB_PASSWORD=${FOO:-${BAR:-W}}',
  'user.SetPassword("W")',
  'user.setPassword("W".toCharArray())',
  'user.setPassword(`W`)',
  'ParameterKey=DBPassword,ParameterValue=W',
  '  - ParameterKey: DBPassword\n    ParameterValue: W\n',
  '  - name: DB_PASSWORD # the database\n    value: W\n',
  '  - key: DB_PASSWORD\n    type: SECRET\n    value: W\n',
  '  - {name: DB_PASSWORD, value: "W"}',
  'variable "db_password" {\n  type        = string\n  default     = "W"\n}',
  '  master_password      = "W"',
  'set {\n  name  = "db.password"\n  value = "W"\n}',
  'Mot de passe : W',
  '{"mot de passe":"W"}',
  'palavra-passe: W',
  'mật khẩu: W',
  'κωδικός πρόσβασης: W',
  'ŞİFRE: W',
  'كلمة المرور: W',
  ...['パスワード：W', '비밀번호: W'].map((text) => text.normalize('NFD')),
  'password12=W',
  'API_KEY_10=W',
  'db:15432:shop:ada:W',
  'db:5432:shop:ada@corp:W',
]
test.each(found)('is found since the fifth version, in a text and in JSON, and left by the fourth: %j', (form) => {
  const text = form.replace(/\bW\b/, () => 'tr33house')
  const redacted = (flag: string, said: string): string =>
    redactorOfTape({ source: 'a', header: { flags: [flag] } }).text(said)
  const clean = form.replace(/\bW\b/, () => 'redacted-secret-1')
  expect(redacted('redactor-5', text)).toBe(clean)
  expect(redacted('redactor-5', json({ said: text }))).toBe(json({ said: clean }))
  expect(redacted('redactor-4', text)).toBe(text)
})

test.each([
  'password ??= defaults.password2',
  "errors.password ||= 'Password too short, min 8'",
  "if (props.name !== 'password2')",
  'pin12: 1234',
  '12:30 and 10:45',
  'the pass word2: see page 10: below',
  '- key: password\n  value: optional\n',
  '{name: password, value: required8}',
  'set {\n  name = "password_policy"\n  value = "level2"\n}',
  '  master_password      = random_password.db1.result',
  '- ParameterKey: Password\n  ParameterValue: !Ref Pw1',
  'user.setPassword(`${name}1`)',
  'Passwort: siehe1Password',
  'password: at-least-8',
])('of what looks like such a form nothing is replaced: %j', (text) => {
  for (const said of [text, json({ said: text })]) expect(createRedactor().text(said)).toBe(said)
})
