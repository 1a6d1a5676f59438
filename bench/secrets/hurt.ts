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
  'half a hash': '$2a$10$',
  'users of addresses': '://aaaaaaaaaaaaaaaaaaaaaa',
  'tokens in queries': 'token=aaaaaaaaaaaaaaa1',
  pairs: '["token",',
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
}

/** Hostile texts of a length, by name. */
export function hostileTexts(length: number): ReadonlyMap<string, string> {
  const texts = new Map(Object.entries(made).map(([name, text]) => [name, repeated(text, length)]))
  let deep = 'hello '.repeat(length / 16)
  for (let depth = 0; depth < 4; depth++) deep = Buffer.from(deep).toString('base64')
  return texts.set('base64 four deep', deep.slice(0, length))
}
