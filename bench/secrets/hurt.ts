const repeated = (text: string, length: number): string => text.repeat(Math.ceil(length / text.length)).slice(0, length)

/** Text made to be slow: each begins something again and again and never ends it. */
const made: Readonly<Record<string, string>> = {
  'one letter': 'a',
  dashes: '-',
  'key heads': 'sk-',
  'names with signs': 'password=',
  'names that begin a text': '"token":"',
  'backslashes before quotes': '\\\\"',
  'letters in \\u': '\\u0061',
  'letters in %': '%41',
  'Chinese in \\u': '\\u5bc6\\u7801',
  'Chinese names in \\u': '\\u5bc6\\u7801:',
  'Chinese in %': '%E5%AF%86%E7%A0%81',
  'Chinese names in %': '%E5%AF%86%E7%A0%81=',
  'half characters in %': '%E5%AF',
  'percents of percents': '%25',
  'accents in HTML': '&ntilde;',
  'numbers in HTML': '&#23494;&#x7801;',
  'quotes in HTML': '&quot;',
  flags: '--token ',
  'curl without a user': 'curl -u ',
  'ldapsearch without a password': 'ldapsearch ',
  'mysql without a password': 'mysql ',
  'lists of a program': '["curl","-u",',
  'lists that begin nowhere': '"-u"],"b":"curl"',
  'lists before a program': '["-u"],"b":"curl"',
  'programs behind options': 'docker -a curl -u "',
  'options of lists': '"-u",',
  'lists that never end': '["-u","a",["',
  'items of YAML': '  - --password\n',
  'arguments before no program': 'args:\n- -u\n',
  'lines that go on': '--password \\\n',
  'lines of a block': '  curl\n  -s\n',
  'options of lines': '\n  -u',
  'lists in one line': '[curl, -u, ',
  'elements of words': '<a>--password</a>',
  'pipes before a program': 'echo a1b2 | chpasswd ',
  'words that are asked for': 'expect assword send "',
  'verbs without a program': 'config ',
  'words by their place': 'openssl passwd -salt ',
  'private keys that never end': '-----BEGIN PRIVATE KEY-----',
  elements: '<token>',
  braces: '{"a":',
  'tokens that never end': 'eyJaaaa.',
  'letters and dots': 'M.',
  'digits and slashes': '1/1',
  'parts of a form': 'form-data; name="token"\r\n',
  'countries of an IBAN': 'HU28 ',
  'half a hash': '$2a$10$',
  'users of addresses': '://aaaaaaaaaaaaaaaaaaaaaa',
  'tokens in queries': 'token=aaaaaaaaaaaaaaa1',
  pairs: '["token",',
  'values that no name follows': '{"value":"x",',
  'names that no value stands before': '"name":"password",',
  'names behind values in JSON of JSON': '\\"value\\":\\"x\\",\\"name\\":\\"password\\"}',
  'fields between a value and its name': '"value":"a1b2c3","a":1,"b":2,"c":3,"name":"password",',
  'attributes before names': ' value="x',
  'commas that stand apart': ' , ',
  'spaces before commas': `${' '.repeat(60)},`,
  'names before commas that stand apart': '"password" , ',
  'attributes of no element': ' value = "x" name = ',
  'lines of pgpass': ':5432:a:b:',
  'signs in the middle': 'T3BlbkFJ',
  'literals behind a name': "create password '",
  'literals that end with a text': `create password 'a",`,
  'literals of users': "identified by '",
  'rows of an insert': "into t (password) values ('",
  'rows without columns': ') values ',
  'lists behind a name': '"password":["a1",',
  'fields before a value': '"password":{"a":"b",',
  'names in attributes': '<a name="password" value="',
  'blocks of YAML': 'password: |\n ',
  'short values behind a name': '"password":"a1",',
  'queries in one value': '?key=',
  'letters and at signs': 'é@',
  'names in Chinese': '密码：',
  'names in Chinese before spaces': '密码: ',
  'names in Japanese': 'パスワード：',
  'names in Korean': '비밀번호: ',
  'names in Russian': 'пароль=',
  'accents of their own': 'contrasen\u0303a:',
  'values in Chinese': '密码：a1b2c3，',
  'values in Russian': 'пароль: a1b2c3 ',
  'full-width signs': 'password＝',
  'cookies behind names in Japanese': 'パスワードCookie:',
  'cookies before names in Japanese': 'Cookiea1B2c3D4パスワード',
  'lines that say what they are': 'kind: token\n.',
  'objects that say what they are': '{"type":"bearer","key":"a1B2c3D4e5F6g7H8',
  'keys below other keys': '    key: aBcDeFgHiJkLmN12\n',
  'keys in objects that never end': '"key":"aBcDeFgHiJkLmN12",',
  'texts that end like names': '"type":"a_and_token",',
  'names with a number': 'Token2: ',
  'values of numbered names': 'senha2:a1b2c3,',
  'names that begin nowhere': 'token:x1\u0303',
  'digits and signs': '1:2:3=',
  'names said once more': 'password_confirmation=',
  'code before no text': 'password = env.P ?? ',
  'code with a name in it': "password = os.environ.get('P', ",
  'types before no text': 'password: Map<a, b> = ',
  comparisons: 'password === ',
  'quotes behind a comparison': 'password == " ',
  'quotes behind code': 'password = a ?? " ',
  'quotes behind an arrow': "password => ' ",
  'quotes behind a sign of two': 'password := " ',
  'quotes behind a flag': '--password "  ',
  templates: 'password=${A:-',
  'code behind code': 'password = a ?? a ?? ',
  'code by a condition': 'password = a ? a : ',
  'types before code': 'password: a<b> = ',
  'calls behind calls': 'password = a().a(',
  'signs of two before no text': 'password ??= ',
  'quotes behind an inequality': 'password != " ',
  'templates in templates': 'password=${A:-${B:-',
  'names of several words': 'mot de passe x ',
  'values of several words': 'mot de passe: a1b2c3 ',
  'names far from their sign': 'password         = ',
  'numbers of two digits': 'password12:34=',
  'names beside no value': '{ name: DB_PASSWORD, value: ',
  'names above fields': '- key: DB_PASSWORD\n  type: SECRET\n  value: ',
  'parameters of AWS': 'ParameterKey=DBPassword,ParameterValue=',
  'names of Terraform': 'name = "db_password" value = ',
  'defaults that are none': 'default                ',
  'calls with a name': 'setPassword("',
  'fields below a name': '- name: DB_PASSWORD\n  value: ',
  'variables of Terraform': 'variable "password" { default = ',
  'keys above a text': '<key>password</key><string></',
  'ports of pgpass': ':6543:a:b:',
  'more ports of pgpass': ':54321:a:b:',
  'settings of switches': 'password 0 ',
  'words of a switch': 'password    ',
  'users with a password': 'IDENTIFIED BY ',
  'texts of Lua': 'password=[[',
  'names in sentences': 'the password is ',
  'names of words': 'password ada bob cy ',
  'names before quotes': "password '",
  'names before elements': 'password</td><td class="a">',
  'elements that do not end': 'password<a ',
  'names in calls': "fill('#password', '",
  'names before calls': 'passwordInput.fill("',
  'sentences of Chinese': '密码是',
  'calls with a user': "login('ada', '",
  'calls with no password': 'createHmac(a, b, ',
  'codes before no digits': 'PIN of the ',
  'heads of tables': 'user,password\n',
  'heads of tables in JSON': 'user,password\\n',
  'cells of a head': '|password',
  'phrases in lines': 'password: correct.horse.battery\n',
  'phrases in one line': 'password: correct.horse.battery, ',
  'lists of YAML that never end': 'password: [aaaa, bbbb1, ',
  'rows of one table': '| password | a1b2c3 |\n',
  constants: "define('A_KEY','",
  'resources of AWS': 'arn:aws:secretsmanager:eu-west-1:123456789012:password:',
  'values that end in signs': `password:${'.'.repeat(4_000)}x `,
  'elements that end in spaces': `<password>${' '.repeat(4_000)}x</password>`,
  'options before a quote': "secret_key ' -",
  'names before a quote and an option': "password ' -",
  'keys of backslashes': `-----BEGIN PRIVATE KEY-----${'\\'.repeat(19_000)}a\n`,
}

/** What a password of dashes would repeat. */
const head = ']:587 a:'

/** Hostile texts of a length, by name. */
export function hostileTexts(length: number): ReadonlyMap<string, string> {
  const texts = new Map(Object.entries(made).map(([name, text]) => [name, repeated(text, length)]))
  let deep = 'hello '.repeat(length / 16)
  for (let depth = 0; depth < 4; depth++) deep = Buffer.from(deep).toString('base64')
  texts.set('base64 four deep', deep.slice(0, length))
  texts.set('dashes behind the name of a server', head + '-'.repeat(length - head.length))
  for (const [name, write] of Object.entries(everNew)) texts.set(name, changing(write, length))
  for (const [name, as] of Object.entries(inOneWord)) {
    const plain = changing(everNew[name]!, length)
    // As much of it as fills the word.
    const part = plain.slice(0, Math.floor((length * length) / as(plain).length))
    texts.set(`${name}, in one word of base64`, as(part))
  }
  for (const [name, text] of Object.entries(knownBetween))
    texts.set(name, '"password":"a1b2c3d4" ' + repeated(text, length - 22))
  texts.set('known secrets that begin alike', knownAlike(length))
  return texts.set('a known secret that repeats itself', knownAgain(length))
}

/** A secret, and behind it again and again where a model may have its name. */
const knownBetween: Readonly<Record<string, string>> = {
  'a known secret as a model': '{"model":"a1b2c3d4"},',
  'a known secret in the path of models': '/models/a1b2c3d4/',
  'a known secret behind a model and backslashes': '\\\\\\\\\\\\"model":"a1b2c3d4"',
  'a known secret as the name of a tool': '"type":"function","a":1,"name":"a1b2c3d4",',
}

const base64 = (text: string): string => Buffer.from(text).toString('base64')
const base64url = (text: string): string => Buffer.from(text).toString('base64url')

/** Another value at each place: nothing that was worked out for one serves for the next. */
const everNew: Readonly<Record<string, (n: number, word: string) => string>> = {
  'new values in Chinese': (_, word) => `密码：${word}，`,
  'new values in a sentence of Chinese': (n, word) => `第${n}个用户的密码是：${word}。`,
  'new values in Russian': (_, word) => `пароль: ${word} `,
  'new values of Chinese letters': (n, word) => `密码：${word}字${n}，`,
  'new addresses': (n) => `ada${n}@shop${n % 97}.example `,
  'new addresses in URLs': (n) => `?to=ada${n}%40shop.example&b=`,
  'new addresses of Chinese text': (n) => `邮箱：ada${n}@shop.example，`,
  'new values of flags': (_, word) => `--password ${word} `,
  'new values of flags in quotes': (_, word) => `--password "${word}" `,
  'new values of a list': (_, word) => `"--pwd","${word}",`,
  'new short values of a list': (n) => `"--pwd","a${n}",`,
  'new values of objects': (n, word) => `{"id":${n},"password":"${word}"},`,
  'new values of objects in JSON': (n, word) => `{\\"id\\":${n},\\"password\\":\\"${word}\\"},`,
  'new values of a query': (_, word) => `&pwd=${word}`,
  'one letter in a query': (n) => `&pwd=${'abcdefgh'[n % 8]}`,
  'new values in a query': (_, word) => `&password=${word}`,
  'new variables': (_, word) => `DB_PASSWORD=${word}\n`,
  'new lines of YAML': (_, word) => `password: ${word}\n`,
  'new values in \\u': (_, word) => `"password":"\\u0061${word}",`,
  'new values in %': (_, word) => `password%3D${word}%26`,
  'new values in % of %': (_, word) => `password%253D${word}%2526`,
  'new values in HTML': (_, word) => `&quot;password&quot;:&quot;${word}&quot;,`,
  'new values in colours': (_, word) => `\x1b[36mpassword\x1b[39m=\x1b[32m${word}\x1b[39m `,
  'new values in elements': (_, word) => `<password>${word}</password>`,
  'new values in attributes': (_, word) => `<a name="password" value="${word}"/>`,
  'new long values': (n, word) => `"password":"${word.repeat(40)}${n}",`,
  'new values of 4,000 characters': (n, word) => `password=${word.repeat(400)}${n}\n`,
  'new tokens': (n, word) => `eyJhbGciOiJub25lIn0.eyJuIjoi${word}.${word}${n} `,
  'new tokens of one letter': (n) => `eyJ${n}.eyJ${n}.a${n} `,
  'new keys': (n, word) => `sk-proj-${word}${word}${n} `,
  'new keys of GitHub': (n, word) => `ghp_${(word + word + word + word).slice(0, 36)} ${n}`,
  'new bearers': (_, word) => `Authorization: Bearer ${word}${word}\n`,
  'new bearers in lines of JSON': (_, word) => `{"msg":"otp=Bearer ${word}"}\n`,
  'new bearers of a list': (_, word) => `"-password","Bearer ${word}",`,
  'new addresses in lines of an answer': (n) => `0:"密码=ada${n}@x${n % 9}.example "\n`,
  'new users of addresses': (_, word) => `https://ada:${word}@shop.example/ `,
  'new users of curl': (_, word) => `curl -u ada:${word} https://shop.example; `,
  'new pairs': (_, word) => `["x-api-key","${word}"],`,
  'new names beside values': (_, word) => `{"name":"password","value":"${word}"},`,
  'new values before names': (_, word) => `{"value":"${word}","name":"password"},`,
  'new values with signs apart': (_, word) => `{ "name" : "password" , "value" : "${word}" },`,
  'new attributes before names': (_, word) => `<a value="${word}" name="password"/>`,
  'new calls': (_, word) => `setPassword("${word}"); `,
  'new code': (_, word) => `password = env.P ?? '${word}'\n`,
  'new literals of SQL': (_, word) => `alter user ada password '${word}';\n`,
  'new rows of SQL': (n, word) => `${n === 0 ? 'insert into t (id, password) values ' : ''}(${n}, '${word}'),`,
  'new base64': (n, word) => `${base64(`{"id":${n},"password":"${word}"}`)} `,
  'new base64 of base64': (n, word) => `${base64(base64(`{"id":${n},"password":"${word}"}`))} `,
  'new base64 without a secret': (n, word) => `${base64(`order ${n} of ${word} was sent`)} `,
  'new values in % in base64': (_, word) => `${base64(`password%3D${word}%26`)} `,
  'new values in % in base64url': (_, word) => `${base64url(`password%3D${word}%26`)} `,
  'new values in % in base64 of base64': (_, word) => `${base64(base64(`password%3D${word}%26`))} `,
  'new values in % in base64 three deep': (_, word) => `${base64(base64(base64(`password%3D${word}%26`)))} `,
  'new bearers in lines of a log': (_, word) => `{"msg":"Bearer ${word}${word}"}\n`,
  'one value in base64 three deep': () => `${base64(base64(base64('pwd=a1b2c3d4e5')))} `,
  'new values in lines of JSON': (n, word) => `{"id":${n},"password":"${word}","mail":"ada${n}@shop.example"}\n`,
  'one value in % in base64': () => `${base64('password%3Da1b2c3d4%26')} `,
  'new passwords in base64 of JSON of base64': (n) => `${base64(JSON.stringify(base64(`pwd=a1${n} and more`)))} `,
  'new lists in base64 of base64': (n) => `${base64(base64(`["--pwd","a1${n}"]`))} `,
  'new lists in % in base64': (n) => `${base64(encodeURIComponent(`["--pwd","a1${n}"]`))} `,
  'new short words of base64 three deep': (n) => `${base64(base64(base64(`pwd=a1${n}`.padEnd(18))))} `,
  'new values in Chinese in base64 of base64url': (_, word) => `${base64(base64url(`密码：${word}，`))} `,
  'new addresses in % in base64': (n) => `${base64(encodeURIComponent(`ada${n}@shop.example `))} `,
  'new values in \\u in base64': (_, word) => `${base64(`"password":"\\u0061${word}"`)} `,
  'new values in HTML in base64': (_, word) => `${base64(`&quot;password&quot;:&quot;${word}&quot;`)} `,
  'new exports': (n, word) => `export A${n}_SECRET_KEY='${word}${word}'\n`,
  'new phrases': (_, word) => `password: horse.${word.replaceAll(/\d/g, '')}.battery\n`,
  'new phrases in comparisons': (_, word) => `password === "a_${word}_b" `,
  'new lists of YAML': (_, word) => `password: [${word}, ${word}!]\n`,
  'new values in JSON of JSON': (_, word) => JSON.stringify({ a: JSON.stringify({ a: `password=${word}` }) }),
  'new values in lists in lines of JSON': (_, word) => `[{"password":["${word}","${word}x"]}]\n`,
  'new queries in queries': (_, word) =>
    `?u=${encodeURIComponent(`https://x/?password=${word}&b=${encodeURIComponent(`?pwd=${word}`)}`)}`,
  'new cookies': (_, word) => `Cookie: sid=${word}${word}; theme=dark\n`,
  'new parts of a form': (_, word) => `--b\r\nContent-Disposition: form-data; name="password"\r\n\r\n${word}\r\n`,
  'new cards': (n) => `4111111111${`${n}`.padStart(6, '0')} `,
  'new names': (n, word) => `"name${n}_password":"${word}",`,
  'new names without a secret': (n, word) => `"password_hint_${n}":"${word}",`,
  'new values in sentences': (_, word) => `The password is ${word}. `,
  'new values in quotes': (_, word) => `password '${word}' `,
  'new cells': (_, word) => `<td>Password</td><td>${word}</td>`,
  'new rows of a table': (n, word) => `${n === 0 ? 'user,password\\n' : ''}ada${n},${word}\\n`,
  'new tables': (_, word) => `user,password\\nada,${word}\\n\\n`,
  'new tables of Markdown': (n, word) => `| user | password |\n|---|---|\n| ada${n} | ${word} |\n\n`,
  'new codes': (n) => `the PIN is ${1_000_000 + n}; `,
  'new words': (_, word) => `${word} `,
  'new numbers': (n) => `${n * 7919} `,
  'words with dashes': (_, word) => `${word}-`,
}

/** Of texts that are encoded whole, how they are. */
const inOneWord: Readonly<Record<string, (text: string) => string>> = {
  'one letter in a query': base64,
  'new values in \\u': (text) => base64(JSON.stringify(text)),
  'new short values of a list': base64,
}

function changing(write: (n: number, word: string) => string, length: number): string {
  const parts: string[] = []
  for (let [n, size] = [0, 0]; size < length; n++) {
    // Letters and digits in turn, ten of them, another word each time.
    const word = `a${(n * 2_654_435_761 + 1_000_000_007).toString(36).padStart(9, 'k').slice(-9)}`
    const part = write(n, /\d/.test(word) ? word : `${word.slice(1)}7`)
    parts.push(part)
    size += part.length
  }
  return parts.join('').slice(0, length)
}

/** As many secrets as are remembered, all of which begin alike, and their beginning again and again. */
function knownAlike(length: number): string {
  const head = 'a1'.repeat(25)
  const secrets = Array.from({ length: 256 }, (_, n) => `"password":"${head}!${n + 1_000}",`).join('')
  return secrets + repeated(`${head}! `, length - secrets.length)
}

/** A secret, and behind it again and again what it nearly is. */
function knownAgain(length: number): string {
  const letters = 'a'.repeat(length / 5)
  return `"password":"a1${letters}" ${letters.repeat(4)}`
}
