import { type Near, noWord } from '../near.ts'

// A value of a command: quoted or not, and never with the backslash that quotes what follows.
const value = String.raw`\\*["']?([^\s"'$<{\\-][^\s"'\\]{3,256})`

/** A command, and the option before its password. */
const command = (anchor: string, option: string): Near => ({
  anchor,
  pattern: new RegExp(`${anchor}\\b[^\\r\\n]{0,200}?\\s${option}${value}`, 'y'),
  skip: 200,
})

/** Commands with a password, as the second finders looked for them. Nothing here changes. */
export const commands: readonly Near[] = [
  {
    anchor: 'curl',
    pattern:
      /curl\b[^\r\n]{0,400}?\s(?:-u|--user|--proxy-user)[ =]{0,2}\\*["']?[^\s"':$\\]{0,128}:([^\s"'$<{\\]{3,256})/y,
    holds: noWord,
    skip: 400,
  },
  ...['mysql', 'mysqldump', 'mysqladmin', 'mariadb', 'mariadb-dump'].map((name) => command(name, '-p')),
  command('sshpass', '-p\\s?'),
  command('redis-cli', '-a\\s+'),
  command('docker login', '-p\\s+'),
  command('sqlcmd', '-P\\s*'),
  ...['ldapsearch', 'ldapmodify', 'ldapadd', 'ldapwhoami'].map((name) => command(name, '-w\\s+')),
  ...['http -a', 'https -a', 'xh -a', 'http --auth', 'https --auth'].map((anchor) => ({
    anchor,
    pattern: new RegExp(String.raw`${anchor}[ =]{1,4}\\*["']?[^\s"':$\\]{1,128}:([^\s"'$<{\\]{3,256})`, 'y'),
    holds: noWord,
  })),
  ...['zip', 'unzip'].map((anchor) => ({
    anchor,
    pattern: new RegExp(String.raw`${anchor}[^\r\n;|&"']{0,100}?\s-P\s{1,4}${value}`, 'y'),
    skip: 64,
  })),
]
