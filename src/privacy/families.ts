/**
 * Tokens that tell what they are by how they begin, one family a row: head, characters, how many of them, and a guard
 * where the head is one of ordinary words too. A new vendor is one row.
 *
 * Characters: `word` A-Z a-z 0-9; `url` and `-_`; `dot` and `-_.`; `pad` and `-_=`; `base64` and `-_+/=`; `percent` word
 * and `%`; `dollar` word and `_$`; `lower` a-z 0-9; `upper` A-Z 0-9; `hex` 0-9 a-f.
 *
 * Guards: `digit` has a digit; `mixed` has a letter beside a digit and is not words joined by dashes; `apart` as `mixed`,
 * and does not stand in a longer word of base64.
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
    sk_ url 28-200 mixed
    rzp_live_ word 14-24 mixed
    gsk_ dot 24-1024 mixed
    xai- dot 24-1024 mixed
    pplx- dot 24-1024 mixed
    tvly- dot 24-1024 mixed
    lsv2_ dot 24-1024 mixed
    pcsk_ dot 24-1024 mixed
    fw_ word 22-32 mixed
    nvapi- url 50-90 mixed
    csk- lower 44-60 mixed
    pa- url 40-50 mixed
    jina_ dot 24-1024 mixed
    r8_ dot 24-1024 mixed
    fc- hex 32 mixed
    e2b_ dot 24-1024 mixed
    BSA word 26-32 apart
    apify_api_ word 30-64 mixed
    bb_live_ url 24-64 mixed
    ABSK base64 100-200 mixed
    bedrock-api-key- base64 80-4096 mixed
    GOOG1E upper 40-64 apart
    glsa_ dot 24-1024 mixed
    glc_ base64 40-1024 mixed
    pypi- dot 24-1024 mixed
    rubygems_ dot 24-1024 mixed
    cio word 32 apart
    oy2 lower 43 apart
    dckr_pat_ dot 24-1024 mixed
    dckr_oat_ dot 24-1024 mixed
    key- hex 32 mixed
    xkeysib- url 60-120 mixed
    re_ url 30-48 mixed
    vcp_ word 24-80 mixed
    vck_ word 24-80 mixed
    vca_ word 24-80 mixed
    vcr_ word 24-80 mixed
    vci_ word 24-80 mixed
    vercel_blob_rw_ url 24-80 mixed
    nfp_ dot 24-1024 mixed
    nfc_ word 30-64 mixed
    nfo_ word 30-64 mixed
    nfu_ word 30-64 mixed
    sb_secret_ url 20-64 mixed
    sbp_ dot 24-1024 mixed
    pscale_pw_ dot 24-1024 mixed
    pscale_tkn_ dot 24-1024 mixed
    pscale_oauth_ dot 24-1024 mixed
    napi_ lower 50-80 mixed
    fm1_ base64 60-4096 mixed
    fm1r_ base64 60-4096 mixed
    fm1a_ base64 60-4096 mixed
    fm2_ base64 60-4096 mixed
    fo1_ url 40-48 mixed
    rnd_ word 26-40 mixed
    HRKU- dot 24-1024 mixed
    dop_v1_ dot 24-1024 mixed
    doo_v1_ dot 24-1024 mixed
    dor_v1_ dot 24-1024 mixed
    dapi dot 24-1024 mixed
    NRAK- dot 24-1024 mixed
    NRII- url 28-40 mixed
    NRJS- hex 19 mixed
    phx_ url 36-64 mixed
    phs_ url 36-64 mixed
    sntryu_ dot 24-1024 mixed
    sntryi_ dot 24-1024 mixed
    sntrys_ base64 24-1024 mixed
    ddpat_ url 30-64 mixed
    dt0c01. dot 80-120 mixed
    dt0s01. dot 80-120 mixed
    hcaik_ lower 50-64 mixed
    hcamk_ lower 24-64 mixed
    hcxik_ lower 50-64 mixed
    pylf_v url 36-80 mixed
    lin_api_ dot 24-1024 mixed
    lin_oauth_ dot 24-1024 mixed
    dG9rO base64 40-120 mixed
    ntn_ dot 24-1024 mixed
    secret_ word 43 mixed
    figd_ dot 24-1024 mixed
    figo_ dot 24-1024 mixed
    ATATT3 pad 24-1024 mixed
    ATCTT3 pad 24-1024 mixed
    ATBB word 28-40 mixed
    pat-na1- url 36 mixed
    pat-na2- url 36 mixed
    pat-eu1- url 36 mixed
    shpat_ dot 24-1024 mixed
    shpss_ dot 24-1024 mixed
    shpca_ dot 24-1024 mixed
    shppa_ dot 24-1024 mixed
    shptka_ dot 24-1024 mixed
    EAAA url 56-70 apart
    sq0atp- url 20-64 mixed
    sq0csp- url 20-64 mixed
    access_token$production$ dollar 40-80 mixed
    access_token$sandbox$ dollar 40-80 mixed
    access-production- url 36 mixed
    access-sandbox- url 36 mixed
    AQE url 36-48 apart
    live_ word 28-36 mixed
    test_ word 28-36 mixed
    FLWSECK- url 30-48 mixed
    FLWSECK_TEST- url 12-48 mixed
    FLWPUBK_TEST- hex 32 mixed
    sl. dot 110-2048 mixed
    EAA word 80-300 apart
    IGQV url 80-300 mixed
    AAAAAAAAAAAAAAAAAAAA percent 60-160 apart
    AQX url 80-400 apart
    oauth: lower 30 mixed
    BQ url 120-400 apart
    hvs. dot 24-1024 mixed
    hvb. dot 24-1024 mixed
    hvr. dot 24-1024 mixed
    pul- hex 40 mixed
    dp.st. dot 24-1024 mixed
    dp.pt. dot 24-1024 mixed
    dp.ct. dot 24-1024 mixed
    dp.sa. dot 24-1024 mixed
    st. dot 80-130 mixed
    ops_eyJ base64 200-4096 mixed
    A3- url 34-40 mixed
    AGE-SECRET-KEY-1 dot 24-1024 mixed
    cfut_ word 40-64 mixed
    cfat_ word 40-64 mixed
    cfk_ word 40-64 mixed
    v1.0- url 150-190 mixed
    LTAI word 16-24 mixed
    AKID word 30-36 mixed
    t1. dot 100-200 mixed
    AQVN url 34-40 mixed
    AKCp word 60-80 apart
    cmVmd word 56-64 apart
    squ_ hex 40 mixed
    sqp_ hex 40 mixed
    sqa_ hex 40 mixed
    CCIPAT_ url 50-80 mixed
    CCIPRJ_ url 50-80 mixed
    bkua_ hex 40 mixed
    PMAK- dot 24-1024 mixed
    rdme_ lower 60-80 mixed
    EZAK word 50-60 apart
    EZTK word 50-60 apart
    shippo_live_ hex 40 mixed
    shippo_test_ hex 40 mixed
    duffel_live_ url 40-48 mixed
    duffel_test_ url 40-48 mixed
    fio-u- url 60-70 mixed
    pnu_ word 36 mixed
    tfp_ url 40-70 mixed
    CFPAT- url 40-48 mixed
    sk.eyJ dot 60-200 mixed
    tk.eyJ dot 60-200 mixed
    sdk- url 36 mixed
    api- url 36 mixed
    mob- url 36 mixed
    secret-live- url 36-50 mixed
    secret-test- url 36-50 mixed
    tskey- url 30-80 mixed
    xprv word 90-110 mixed
    p8e- lower 32 mixed
    ico- word 32 mixed
    sha256~ url 43 mixed
    tk-us- url 48 mixed
    sm_aat_ word 16-20 mixed
    sm_pat_ word 16-20 mixed
    sm_sat_ word 16-20 mixed
    sgp_ url 40-64 mixed
    API- upper 26-28 mixed
    CLOJARS_ lower 60 mixed
    pat. dot 66-72 mixed
    s-s4t2ud- hex 64 mixed
    s-s4t2af- hex 64 mixed
    eyJrIjoi base64 70-400 mixed
    secret_key_ url 40-60 mixed
    fs_live_ word 30-64 mixed`,
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

export const families: readonly KindFamily[] = Object.entries(table).flatMap(([kind, rows]) =>
  rows
    .split('\n')
    .map((row) => row.trim())
    .filter((row) => row !== '')
    .map((row) => familyOf(kind, row)),
)

function familyOf(kind: string, row: string): KindFamily {
  const [head = '', of = '', length = '', guard] = row.split(' ')
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
