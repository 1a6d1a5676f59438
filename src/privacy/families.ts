// Over 300 lines: the table of vendors.
/**
 * Tokens that tell what they are by how they begin, one family a row: head, characters, how many of them, and a guard
 * where the head is one of ordinary words too. A new vendor is one row.
 *
 * Characters: `word` A-Z a-z 0-9; `url` and `-_`; `dot` and `-_.`; `pad` and `-_=`; `base64` and `-_+/=`; `percent` word
 * and `%`; `dollar` word and `_$`; `lower` a-z 0-9; `upper` A-Z 0-9; `hex` 0-9 a-f.
 *
 * Guards: `digit` has a digit; `mixed` has a letter beside a digit and is not words joined by dashes; `apart` as `mixed`,
 * and does not stand in a longer word of base64. Rows of `api-key` are `mixed` if they say nothing else, and `dot 24-1024` if
 * they say their head alone.
 */
const table: Readonly<Record<string, string>> = {
  'anthropic-key': 'sk-ant- url 16-1024',
  'openai-key': 'sk- url 20-1024 mixed',
  'google-key': `
AIza url 30-60
ya29. url 20-4096
GOCSPX- url 20-4096
1//0 url 30-1024
4/0A url 30-1024`,
  'aws-key': `
AKIA upper 16
ASIA upper 16
ABIA upper 16
ACCA upper 16`,
  'github-token': `
ghp_ url 20-255
gho_ url 20-255
ghu_ url 20-255
ghs_ url 20-1024
ghr_ url 20-255
github_pat_ url 20-255`,
  'gitlab-token': `
glpat- dot 16-255
gldt- dot 16-255
glrt- dot 16-255
glptt- dot 16-255
glft- dot 16-255
glcbt- dot 16-255
glimt- dot 16-255
glsoat- dot 16-255
gloas- dot 16-255
glagent- dot 16-255
glffct- dot 16-255 mixed
GR1348941 url 16-64 mixed
_gitlab_session= hex 32`,
  'slack-token': `
xoxa- dot 10-512 digit
xoxb- dot 10-512 digit
xoxc- dot 10-512 digit
xoxd- url 10-512 digit
xoxe- dot 10-512 digit
xoxe. dot 10-512 digit
xoxm- dot 10-512 digit
xoxo- dot 10-512 digit
xoxp- dot 10-512 digit
xoxr- dot 10-512 digit
xoxs- dot 10-512 digit
xapp- dot 10-512 digit`,
  'stripe-key': `
sk_live_ url 10-255
sk_test_ url 10-255
rk_live_ url 10-255
rk_test_ url 10-255
whsec_ base64 10-255`,
  'npm-token': 'npm_ word 36',
  'huggingface-token': `
hf_ word 30-64
api_org_ word 30-64 mixed`,
  'sendgrid-key': 'SG. dot 33-192 mixed',
  'twilio-key': `
SK hex 32
AC hex 32`,
  'api-key': `
sk_ url 28-200
rzp_live_ word 14-24
gsk_
xai-
pplx-
tvly-
lsv2_
pcsk_
fw_ word 22-32
nvapi- url 50-90
csk- lower 44-60
pa- url 40-50
jina_
r8_
fc- hex 32
e2b_
BSA word 26-32 apart
apify_api_ word 30-64
bb_live_ url 24-64
ABSK base64 100-200
bedrock-api-key- base64 80-4096
GOOG1E upper 40-64 apart
glsa_
glc_ base64 40-1024
pypi-
rubygems_
cio word 32 apart
oy2 lower 43 apart
dckr_pat_
dckr_oat_
key- hex 32
xkeysib- url 60-120
re_ url 30-48
vcp_ word 24-80
vck_ word 24-80
vca_ word 24-80
vcr_ word 24-80
vci_ word 24-80
vercel_blob_rw_ url 24-80
nfp_
nfc_ word 30-64
nfo_ word 30-64
nfu_ word 30-64
sb_secret_ url 20-64
sbp_
pscale_pw_
pscale_tkn_
pscale_oauth_
napi_ lower 50-80
fm1_ base64 60-4096
fm1r_ base64 60-4096
fm1a_ base64 60-4096
fm2_ base64 60-4096
fo1_ url 40-48
rnd_ word 26-40
HRKU-
dop_v1_
doo_v1_
dor_v1_
dapi
NRAK-
NRII- url 28-40
NRJS- hex 19
phx_ url 36-64
phs_ url 36-64
sntryu_
sntryi_
sntrys_ base64 24-1024
ddpat_ url 30-64
dt0c01. dot 80-120
dt0s01. dot 80-120
hcaik_ lower 50-64
hcamk_ lower 24-64
hcxik_ lower 50-64
pylf_v url 36-80
lin_api_
lin_oauth_
dG9rO base64 40-120
ntn_
secret_ word 43
figd_
figo_
ATATT3 pad 24-1024
ATCTT3 pad 24-1024
ATBB word 28-40
pat-na1- url 36
pat-na2- url 36
pat-eu1- url 36
shpat_
shpss_
shpca_
shppa_
shptka_
EAAA url 56-70 apart
sq0atp- url 20-64
sq0csp- url 20-64
access_token$production$ dollar 40-80
access_token$sandbox$ dollar 40-80
access-production- url 36
access-sandbox- url 36
AQE url 36-48 apart
live_ word 28-36
test_ word 28-36
FLWSECK- url 30-48
FLWSECK_TEST- url 12-48
FLWPUBK_TEST- hex 32
sl. dot 110-2048
EAA word 80-300 apart
IGQV url 80-300
AAAAAAAAAAAAAAAAAAAA percent 60-160 apart
AQX url 80-400 apart
oauth: lower 30
BQ url 120-400 apart
hvs.
hvb.
hvr.
pul- hex 40
dp.st.
dp.pt.
dp.ct.
dp.sa.
st. dot 80-130
ops_eyJ base64 200-4096
A3- url 34-40
AGE-SECRET-KEY-1
cfut_ word 40-64
cfat_ word 40-64
cfk_ word 40-64
v1.0- url 150-190
LTAI word 16-24
AKID word 30-36
t1. dot 100-200
AQVN url 34-40
AKCp word 60-80 apart
cmVmd word 56-64 apart
squ_ hex 40
sqp_ hex 40
sqa_ hex 40
CCIPAT_ url 50-80
CCIPRJ_ url 50-80
bkua_ hex 40
PMAK-
rdme_ lower 60-80
EZAK word 50-60 apart
EZTK word 50-60 apart
shippo_live_ hex 40
shippo_test_ hex 40
duffel_live_ url 40-48
duffel_test_ url 40-48
fio-u- url 60-70
pnu_ word 36
tfp_ url 40-70
CFPAT- url 40-48
sk.eyJ dot 60-200
tk.eyJ dot 60-200
sdk- url 36
api- url 36
mob- url 36
secret-live- url 36-50
secret-test- url 36-50
tskey- url 30-80
xprv word 90-110
p8e- lower 32
ico- word 32
sha256~ url 43
tk-us- url 48
sm_aat_ word 16-20
sm_pat_ word 16-20
sm_sat_ word 16-20
sgp_ url 40-64
API- upper 26-28
CLOJARS_ lower 60
pat. dot 66-72
s-s4t2ud- hex 64
s-s4t2af- hex 64
eyJrIjoi base64 70-400
secret_key_ url 40-60
fs_live_ word 30-64`,
}

/** Since the fourth version. Of Twilio only keys: its accounts are no secret. */
const since: Readonly<Record<string, string>> = {
  'twilio-key': 'SK hex 32 mixed',
  'api-key': `
wandb_v1_ url 40-128
tgp_v1_ url 40-64
rpa_ word 40-64
cal_live_ hex 32
m0- word 36-64
key_ hex 28
unkey_ word 20-64
live_ url 40
SCW upper 17`,
}
/** Since the sixth version. */
const sinceSixth: Readonly<Record<string, string>> = {
  'google-key': 'AQ.Ab8 url 40-80',
  'api-key': `
ATCTT3 base64 60-400
mdb_sa_sk_ url 30-60
signkey-prod- hex 64
signkey-test- hex 64
crsr_ hex 64
key_ hex 64
slk_ hex 64
tr_prod_ word 20-24
tr_stg_ word 20-24
scp-live- word 24-64
testsk_ url 20-64
y0_ url 50-64
y1_ url 50-64
napi_ word 60-68
csk- word 40-64
esecret_ word 20-40
fw_ word 22-24
as- word 22
hb_ url 30-64
llx- word 40-64
n8n_api_ word 32-64
apify_api_ word 30-40
dtn_ hex 64
flp_ word 40-64
zpka_ url 30-64
hex_ word 30-64
rdme_ word 60-80
dnkey- dot 60-120
aio_ word 28
beamer_ base64 40-80
ddpat_ word 40
ddapi_ word 40
v1.local. url 60-4096
v2.local. url 60-4096
v3.local. url 60-4096
v4.local. url 60-4096`,
}
/** One row, read. */
export interface KindFamily {
  readonly kind: string
  readonly head: string
  readonly of: keyof typeof alphabets
  readonly min: number
  readonly max: number
  readonly guard?: 'digit' | 'mixed' | 'apart'
}

/** Sources of character classes by name; `more` is what a token would go on with. */
export const alphabets = {
  word: { of: '[A-Za-z0-9]', more: '[A-Za-z0-9]' },
  alnum: { of: '[A-Za-z0-9]', more: '[A-Za-z0-9]' },
  url: { of: '[\\w-]', more: '[\\w-]' },
  dot: { of: '[\\w.-]', more: '\\w' },
  pad: { of: '[\\w=-]', more: '\\w' },
  base64: { of: '[\\w+/=-]', more: '\\w' },
  percent: { of: '[A-Za-z0-9%]', more: '\\w' },
  dollar: { of: '[\\w$]', more: '[\\w$]' },
  lower: { of: '[a-z0-9]', more: '[A-Za-z0-9]' },
  upper: { of: '[A-Z0-9]', more: '[A-Za-z0-9]' },
  hex: { of: '[0-9a-f]', more: '[A-Za-z0-9]' },
} as const

const read = (rows: typeof table): readonly KindFamily[] =>
  Object.entries(rows).flatMap(([kind, lines]) =>
    lines
      .split('\n')
      .filter((row) => row !== '')
      .map((row) => familyOf(kind, row)),
  )

/** Those of finders of a version: the fourth and the sixth added some. */
export function builtInFamilies(version: number): readonly KindFamily[] {
  if (version < 4) return before
  return version < 6 ? fourth : sixth
}

const before = read(table)
const fourth: readonly KindFamily[] = [
  ...before.filter(({ kind, head }) => kind !== 'twilio-key' || !/^(?:SK|AC)$/.test(head)),
  ...read(since),
]
const sixth: readonly KindFamily[] = [...fourth, ...read(sinceSixth)]

function familyOf(kind: string, row: string): KindFamily {
  const [head = '', of = 'dot', length = '24-1024', guard = kind === 'api-key' ? 'mixed' : undefined] = row.split(' ')
  const [min = '', max = min] = length.split('-')
  return {
    kind,
    head,
    of: of as KindFamily['of'],
    min: Number(min),
    max: Number(max),
    ...(guard !== undefined && { guard: guard as NonNullable<KindFamily['guard']> }),
  }
}
