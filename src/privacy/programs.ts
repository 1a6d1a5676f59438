/**
 * What the words of a command promise. Each is a list of words as they are typed; of one letter behind its dash, the value may be
 * in the same word.
 */
export interface ProgramSecrets {
  /** What it is called, without `.exe`. */
  readonly of: string
  /** The next word is the secret. */
  readonly secret?: string
  /** The secret goes on in the same word, and in no other: `mysql -p shop` asks for it. */
  readonly glued?: string
  /** The next word is a name and the secret, or a token alone. */
  readonly user?: string
  /** What stands between name and secret. Default `:`. */
  readonly sign?: string
  /** The next word is a secret where it looks random. */
  readonly random?: string
  /** The next word is cookies. */
  readonly cookie?: string
  /** Its first word that is no option is a name and the secret, and where to. */
  readonly logon?: true
  /** One of these words has to stand before; or all letters of one with a dash: `-nb`. */
  readonly verb?: string
  /** Letters that may stand before one letter in one word: `-sSu`. */
  readonly letters?: string
  /** What it begins is another command, with options of its own. */
  readonly wraps?: true
  /** Of the words that are no options, counted from the verb on, these are secrets where they are no mere letters: `3`. */
  readonly nth?: string
  /** The next word is not counted. */
  readonly takes?: string
  /** The first word it reads is a secret, or a name and one: `echo … | chpasswd`. */
  readonly stdin?: 'nth' | 'user'
  /** The word behind the name of a secret is one: `npm config set //registry/:_authToken …`. */
  readonly named?: true
}

/** Programs by what of their command line is secret, beside options whose name says it: `--password`, `--token`. */
export const programs: readonly ProgramSecrets[] = [
  {
    of: 'curl',
    user: '-u --user -U --proxy-user',
    secret: '--pass --proxy-pass --oauth2-bearer',
    cookie: '-b',
    letters: 'sSfkLiIvgGjlnNOqRJ#',
  },
  { of: 'http https xh xhs', user: '-a --auth' },
  { of: 'websocat wscat chisel', user: '--basic-auth --auth' },
  { of: 'mitmproxy mitmdump mitmweb', user: '--proxyauth' },
  { of: 'lynx jenkins-cli jenkins-cli.jar', user: '-auth -pauth' },
  { of: 'ab', user: '-A -P' },
  { of: 'hey', user: '-a' },
  { of: 'etcdctl', user: '--user' },
  { of: 'podman skopeo buildah', user: '--creds --src-creds --dest-creds' },
  { of: 'smbclient rpcclient winexe smbget wmic', user: '-U --user', sign: '%' },
  { of: 'lftp', user: '-u --user', sign: ',' },
  { of: 'sqlplus sqlldr expdp impdp', logon: true, sign: '/' },
  {
    of: `mysql mysqldump mysqladmin mysqlimport mysqlcheck mysqlshow mysqlslap mysqlbinlog mysqlpump mysqlsh mariadb
      mariadb-dump mariadb-admin mariadb-import mariadb-check mariadb-show xtrabackup mariabackup`,
    glued: '-p',
  },
  { of: 'mysqladmin mariadb-admin', nth: '1', verb: 'password' },
  { of: '7z 7za 7zr rar unrar', glued: '-p -hp' },
  { of: 'xfreerdp wfreerdp', glued: '/p:' },
  { of: 'sshpass', secret: '-p', wraps: true },
  { of: 'redis-cli redis-benchmark valkey-cli keydb-cli', secret: '-a --pass requirepass masterauth' },
  { of: 'redis-cli valkey-cli keydb-cli', nth: '1 2', verb: 'AUTH auth' },
  { of: 'redis-server valkey-server', secret: '--requirepass --masterauth' },
  {
    of: 'docker podman skopeo buildah nerdctl helm oras crane regctl az oc cf fly ibmcloud',
    secret: '-p',
    verb: 'login',
  },
  {
    of: 'docker podman buildah nerdctl helm oras crane regctl gh glab passwd',
    stdin: 'nth',
    verb: '--password-stdin --with-token --stdin',
  },
  { of: 'chpasswd', stdin: 'user' },
  { of: 'sudo', stdin: 'nth', verb: '-S' },
  { of: 'twine poetry uv airflow', secret: '-p', random: '-t', verb: 'upload publish create' },
  { of: 'vercel doctl glab rancher flyctl', random: '-t' },
  { of: 'nuget dotnet choco', random: '-k -ApiKey -apikey setapikey' },
  { of: 'vault cargo wandb snyk ngrok', random: 'login auth authtoken add-authtoken' },
  { of: 'gh', secret: '-b --body', verb: 'secret' },
  { of: 'sqlcmd bcp osql zip unzip ipmitool mosquitto_pub mosquitto_sub mosquitto_rr', secret: '-P --pw' },
  { of: 'ldapsearch ldapmodify ldapadd ldapdelete ldapwhoami ldapcompare ldapmodrdn vsql', secret: '-w' },
  { of: 'ldappasswd', secret: '-w -s -a' },
  { of: 'kadmin plink pscp psftp nzsql', secret: '-pw' },
  { of: 'mongo mongosh mongodump mongorestore mongoexport mongoimport mongostat mongotop mongofiles', secret: '-p' },
  { of: 'mycli mydumper myloader cqlsh cypher-shell beeline hdbsql ncftp ncftpput ncftpget', secret: '-p' },
  { of: 'yt-dlp youtube-dl veracrypt steghide smbmap evil-winrm nxc crackmapexec', secret: '-p' },
  { of: 'snmpget snmpgetnext snmpset snmpwalk snmpbulkwalk snmpbulkget snmptrap', secret: '-A -X -c' },
  { of: 'ssh-keygen', secret: '-N -P' },
  { of: 'security', secret: '-p -P', verb: 'unlock-keychain create-keychain import' },
  { of: 'openssl', secret: '-k', verb: 'enc' },
  { of: 'openssl', nth: '1', takes: '-salt -in', verb: 'passwd' },
  { of: 'htpasswd htdbm mosquitto_passwd', nth: '3', takes: '-C', verb: '-b', letters: 'cnBmsdp5b' },
  { of: 'htpasswd htdbm', nth: '2', verb: '-nb' },
  { of: 'smbclient', nth: '2', takes: '-c -L -p -W -I -D -m -t' },
  { of: 'net', nth: '2', verb: 'user' },
  { of: 'rabbitmqctl', nth: '2', verb: 'add_user change_password authenticate_user' },
  { of: 'rasdial', nth: '3' },
  { of: 'wpa_passphrase', nth: '2' },
  { of: 'mkpasswd', nth: '1', takes: '-m -S -R' },
  { of: 'kubectl oc', user: '--from-literal', sign: '=', verb: 'secret' },
  { of: 'az', secret: '--value', verb: 'secret' },
  { of: 'aws', secret: '--value --secret-string', verb: 'SecureString secretsmanager' },
  {
    of: 'npm pnpm yarn pip pip3 git aws composer poetry bundle gcloud kubectl pulumi wp conda dotnet',
    named: true,
    verb: 'config configure user-secrets',
  },
  { of: 'setx', named: true },
  { of: 'keytool jarsigner', secret: '-storepass -keypass -srcstorepass -deststorepass -srckeypass -destkeypass' },
  { of: 'influx exiftool', secret: '-password' },
  { of: 'swaks sendemail', secret: '-ap -xp --auth-password' },
  { of: 'pdftotext pdftoppm pdfinfo pdfimages pdftohtml pdftocairo pdfcpu', secret: '-upw -opw' },
  { of: 'pdftk', secret: 'input_pw user_pw owner_pw' },
  { of: 'nmcli', secret: 'password' },
  { of: 'rclone', secret: 'obscure' },
]

/** Variables in which programs look for a password, beside those whose name says it: `PGPASSWORD`. */
export const commandVariables: readonly string[] = ['SSHPASS', 'REDISCLI_AUTH', 'VALKEYCLI_AUTH', 'LDAPPASS']

/** What an option says of the secret that follows it. */
export type How = 'secret' | 'glued' | 'user' | 'random' | 'cookie' | 'takes' | 'nth' | 'named'

/** A row, ready to be read. */
export interface KnownRow extends Pick<ProgramSecrets, 'wraps' | 'logon' | 'stdin' | 'named'> {
  readonly options: ReadonlyMap<string, How>
  /** Those that a secret goes on in. */
  readonly glued: readonly string[]
  readonly verbs: readonly string[]
  readonly nth: readonly number[]
  readonly sign: string
  /** What may stand before an option of one letter in one word: a dash, and letters without a value. */
  readonly others: RegExp
}

const wordsOf = (words = ''): readonly string[] => words.split(/\s+/).filter((word) => word !== '')
/** By name of the program, its rows. */
export const knownPrograms: ReadonlyMap<string, readonly KnownRow[]> = byName()

function byName(): ReadonlyMap<string, readonly KnownRow[]> {
  const known = new Map<string, KnownRow[]>()
  for (const given of programs) {
    const row = knownRow(given)
    for (const name of wordsOf(given.of)) known.set(name, [...(known.get(name) ?? []), row])
  }
  return known
}

function knownRow({ of: _, sign = ':', verb, nth, letters = '', ...given }: ProgramSecrets): KnownRow {
  const hows = ['secret', 'glued', 'user', 'random', 'cookie', 'takes'] as const
  return {
    ...given,
    options: new Map(hows.flatMap((how) => wordsOf(given[how]).map((option) => [option, how] as const))),
    sign,
    glued: wordsOf(given.glued),
    verbs: wordsOf(verb),
    nth: wordsOf(nth).map(Number),
    others: new RegExp(letters === '' ? '^-(?=[A-Za-z])' : `^-[${letters}]{0,8}(?=[A-Za-z])`),
  }
}
