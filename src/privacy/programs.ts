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
  /** One of these words has to stand before what is a secret by itself. */
  readonly verb?: string
  /** Letters that may stand before one letter in one word: `-sSu`. */
  readonly letters?: string
  /** What it begins is another command, with options of its own. */
  readonly wraps?: true
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
  { of: 'podman skopeo buildah', user: '--creds --src-creds --dest-creds', secret: '-p', verb: 'login' },
  { of: 'smbclient rpcclient winexe smbget wmic', user: '-U --user', sign: '%' },
  { of: 'lftp', user: '-u --user', sign: ',' },
  { of: 'sqlplus sqlldr expdp impdp', logon: true, sign: '/' },
  {
    of: `mysql mysqldump mysqladmin mysqlimport mysqlcheck mysqlshow mysqlslap mysqlbinlog mysqlpump mysqlsh mariadb
      mariadb-dump mariadb-admin mariadb-import mariadb-check mariadb-show xtrabackup mariabackup`,
    glued: '-p',
  },
  { of: '7z 7za 7zr rar unrar', glued: '-p -hp' },
  { of: 'xfreerdp wfreerdp', glued: '/p:' },
  { of: 'sshpass', secret: '-p', wraps: true },
  { of: 'redis-cli redis-benchmark valkey-cli keydb-cli', secret: '-a --pass' },
  { of: 'docker nerdctl helm oras crane regctl az oc cf fly ibmcloud', secret: '-p', verb: 'login' },
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
  { of: 'snmpget snmpset snmpwalk snmpbulkwalk', secret: '-A -X' },
  { of: 'ssh-keygen', secret: '-N -P' },
  { of: 'security', secret: '-p -P', verb: 'unlock-keychain create-keychain import' },
  { of: 'openssl', secret: '-k', verb: 'enc' },
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
export type How = 'secret' | 'glued' | 'user' | 'random' | 'cookie'

/** A program, ready to be read. */
export interface KnownProgram extends Pick<ProgramSecrets, 'wraps' | 'logon'> {
  readonly options: ReadonlyMap<string, How>
  readonly verbs: readonly string[]
  readonly sign: string
  /** What may stand before an option of one letter in one word: a dash, and letters without a value. */
  readonly others: RegExp
}

const wordsOf = (words: string): readonly string[] => words.split(/\s+/)
export const knownPrograms: ReadonlyMap<string, KnownProgram> = new Map(
  programs.flatMap((row) => {
    const program = knownProgram(row)
    return wordsOf(row.of).map((name) => [name, program] as const)
  }),
)

function knownProgram({ wraps, logon, sign = ':', verb, letters = '', ...given }: ProgramSecrets): KnownProgram {
  const hows = ['secret', 'glued', 'user', 'random', 'cookie'] as const
  const options = new Map(
    hows.flatMap((how) =>
      given[how] === undefined ? [] : wordsOf(given[how]).map((option) => [option, how] as const),
    ),
  )
  return {
    options,
    sign,
    verbs: verb === undefined ? [] : wordsOf(verb),
    others: new RegExp(letters === '' ? '^-(?=[A-Za-z])' : `^-[${letters}]{0,8}(?=[A-Za-z])`),
    ...(wraps && { wraps }),
    ...(logon && { logon }),
  }
}
