/*
 * Secrets for tests, all invented. Joined from parts so that no scanner takes this file for a leak.
 */
const digits = '0123456789'
const mixed = 'aB3dE6gH9jK2mN5pQ8sT1vW4yZ7'
const join = (...parts: readonly string[]): string => parts.join('')

/** Kind → secrets of it that must never reach a tape, wherever they stand. */
export const canaries: Readonly<Record<string, readonly string[]>> = {
  'anthropic-key': [join('sk-', 'ant-api03-', mixed, mixed, '-', mixed, 'AA')],
  'openai-key': [
    join('sk-', 'proj-', mixed, mixed),
    join('sk-', mixed, mixed.slice(0, 21)),
    join('sk-', 'or-v1-', digits, 'abcdef', digits),
  ],
  'google-key': [
    join('AI', 'za', 'Sy', mixed, 'abcDEF'),
    join('ya', '29.', 'a0Af', mixed, mixed),
    join('GOC', 'SPX-', mixed),
  ],
  'aws-key': [join('AK', 'IA', 'Z7Q2W4E6R8T1Y3U5'), join('AS', 'IA', 'Z7Q2W4E6R8T1Y3U5')],
  'github-token': [
    join('gh', 'p_', mixed, digits.slice(0, 9)),
    join('gh', 's_', mixed, digits.slice(0, 9)),
    join('github', '_pat_', mixed, '_', mixed),
  ],
  'gitlab-token': [join('gl', 'pat-', mixed.slice(0, 20))],
  'slack-token': [join('xo', 'xb-', digits, '-', digits, '-', mixed)],
  'stripe-key': [join('sk', '_live_', mixed), join('rk', '_live_', mixed), join('sk', '_test_', mixed)],
  'npm-token': [join('np', 'm_', mixed, digits.slice(0, 9))],
  'huggingface-token': [join('h', 'f_', mixed, 'abcdefg')],
  'sendgrid-key': [join('S', 'G.', mixed.slice(0, 22), '.', mixed, mixed.slice(0, 16))],
  'twilio-key': [
    join('S', 'K', 'a1b2c3d4e5f60718', 'a1b2c3d4e5f60718'),
    join('A', 'C', 'a1b2c3d4e5f60718', 'a1b2c3d4e5f60718'),
  ],
  'api-key': [join('gs', 'k_', mixed, mixed), join('xa', 'i-', mixed, mixed), join('tv', 'ly-', 'dev-', mixed)],
  jwt: [join('ey', 'JhbGciOiJIUzI1NiJ9', '.ey', 'JzdWIiOiJ1c2VyLTE3In0', '.', mixed, mixed.slice(0, 16))],
  'private-key': [
    join('-----BEGIN ', 'PRIVATE KEY-----\nMIIEvQIBADANBg', mixed, '\n', mixed, '==\n-----END ', 'PRIVATE KEY-----'),
    join(
      '-----BEGIN ',
      'RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\n',
      mixed,
      '\n-----END ',
      'RSA PRIVATE KEY-----',
    ),
  ],
  email: ['jane.doe+orders@mail.example.com', 'müller@example.de', 'x_1@sub-domain.example.co.uk'],
  card: ['4111111111111111', '5555 5555 5555 4444', '3782-822463-10005', '6011111111111117', '3566002020360505'],
  iban: ['DE89370400440532013000', 'GB82 WEST 1234 5698 7654 32', 'FR1420041010050500013M02606'],
}

/** Text with a secret that only what stands around it tells, and the secret. */
export const surrounded: readonly (readonly [text: string, secret: string])[] = [
  [join('Authorization: Bearer ', 'opaque-0a1b2c3d4e5f'), join('opaque-', '0a1b2c3d4e5f')],
  [join('authorization: bearer ', 'V2.ab+cd/ef12=='), join('V2.ab+cd/', 'ef12==')],
  [
    join('Proxy-Authorization: Basic ', Buffer.from('scott:tiger12').toString('base64')),
    Buffer.from('scott:tiger12').toString('base64'),
  ],
  ['postgres://app:pa55word@db.example:5432/shop', 'pa55word'],
  ['mongodb+srv://app:p@ss%2Fw0rd@cluster.example/shop', 'p@ss%2Fw0rd'],
  ['redis://:s3cretpw@cache.example:6379', 's3cretpw'],
  ['https://deploy:t0ken1234@git.example/repo.git', 't0ken1234'],
  ['DB_PASSWORD=hunter2hunter2', 'hunter2hunter2'],
  ['password=letmein&remember=1', 'letmein'],
  ['Password: **Tr0ub4dor&3**', 'Tr0ub4dor'],
  ["{'password': 'correct horse'}", 'correct horse'],
  ['{"client_secret" : "7d9f-not-a-uuid"}', '7d9f-not-a-uuid'],
  ['{"apiKey":"abc"}', '"abc"'],
  ['{"AWS_SECRET_ACCESS_KEY":"wJalrXUtnFEMI/K7MDENG"}', 'wJalrXUtnFEMI/K7MDENG'],
  ['aws_secret_access_key = wJalrXUtnFEMI/K7MDENG', 'wJalrXUtnFEMI/K7MDENG'],
  ['DefaultEndpointsProtocol=https;AccountName=shop;AccountKey=q1w2e3r4t5y6==;EndpointSuffix=x', 'q1w2e3r4t5y6=='],
  ['Endpoint=sb://x.example/;SharedAccessKeyName=root;SharedAccessKey=q1w2e3r4t5y6=', 'q1w2e3r4t5y6='],
  ['https://x.example/a?api_key=short1&b=2', 'short1'],
  ['https://x.example/a?sig=A1b2C3d4E5f6G7h8%2B&se=2026', 'A1b2C3d4E5f6G7h8%2B'],
  ['https://x.example/a?X-Amz-Signature=0123456789abcdef0123&X-Amz-Date=20260304T050607Z', '0123456789abcdef0123'],
  ['tool --api-key=abc123def', 'abc123def'],
  ['Cookie says access_token="0a1b2c3d"', '0a1b2c3d'],
]

/** What agents work with every day and no redactor may touch. */
export const harmless: readonly string[] = [
  '550e8400-e29b-41d4-a716-446655440000',
  '2026-03-04T05:06:07.089Z',
  '2026-03-04 05:06:07.089123456+01:00',
  '1772600767089',
  '1772600767.089123',
  '1772600767089123',
  '1772600767089123456',
  'call_9f8Zx7Yw6Vu5Ts4Rq3Po2Nm1',
  'chatcmpl-B9MHDbslfkBeAs8l4bebGdFOJ6PeG',
  'toolu_01A09q90qw90lq917835lq9',
  'msg_01XFDUDYJgAACzvnptvVoYEL',
  'req_011CSHoEeqs5C35K2UUqR7Fy',
  'resp_67ccd2bed1ec8190b14f964abc0542670bb6a6b452d3795b',
  'fc_67ccd2bf17f0819081ff3bb2cf6508e60bb6a6b452d3795b',
  'gen-1772600767-aB3dE6gH9jK2mN5pQ8sT',
  'asst_abc123 thread_abc123 run_abc123 file-abc123 vs_abc123',
  'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  'd41d8cd98f00b204e9800998ecf8427e',
  'sha512-9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08==',
  '"#":"5MgbL9EHkJsrZWk-bVjcgQ"',
  'gpt-4o-2026-05-13 claude-3-5-sonnet@20260620 text-embedding@001 models/gemini-2.5-pro',
  'sk-learn-pipeline-with-a-long-name and sk-estimator-container-id',
  'a task-force, a risk-assessment, a disk-encryption-setup',
  '[-0.0123456789012345,0.4111111111111111,4.111111111111111e-5,12345.6789012345678]',
  '{"id":12345678901234567,"order":4111111111111112,"lat":52.5200066,"lon":13.404954}',
  `{"embedding":"${Buffer.from(Float32Array.from({ length: 64 }, (_, at) => Math.sin(at))).toString('base64')}"}`,
  `data:image/png;base64,${Buffer.from(Uint8Array.from({ length: 300 }, (_, at) => (at * 89) % 256)).toString('base64')}`,
  `{"signature":"${Buffer.from(Uint8Array.from({ length: 300 }, (_, at) => (at * 57) % 256)).toString('base64url')}"}`,
  '{"max_tokens":1024,"token":"Hello","next_page_token":"CAUQAA","prompt_tokens":12,"logprobs":[{"token":" the","logprob":-0.1}]}',
  '{"properties":{"password":{"type":"string"},"api_key":{"type":"string","description":"The key"}},"required":["password"]}',
  'const password = await readPassword(); login({ user, password: password })',
  'password: string; secret: Buffer; apiKey?: string | undefined',
  'apiKey: process.env.OPENAI_API_KEY, password: ${DB_PASSWORD}, secret=<your secret>',
  'The secret: patience. Keep your password safe. Bearer authentication and basic functionality.',
  'git@github.com:owner/repo.git lodash@4.17.21 @scope/name@1.0.0-rc.1 logo@2x.png user@host',
  '+1 (555) 010-0199 and 555-0199, ISBN 978-3-16-148410-0, VAT DE123456789',
  'https://user.example/path?page=2&key=name&code=DE&state=open#token',
  'order 1234 5678 9012 3456, tracking 1Z999AA10123456784, invoice 2026-0003-0004-0005',
  'PWD=/home/agent/work',
  'DE89370400440532013001 and XX89370400440532013000 and DE8937040044053201300',
  '127.0.0.1:8080 10.0.0.7 ::1 fe80::1%eth0',
  'C:\\new\\table\\bin and \\\\server\\share',
  '😀 Grüße aus 東京 — “quoted” \u0000\u001b[31m',
]
