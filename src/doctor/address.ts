/** Names of variables that say where requests go, which is no part of a run. */
const address = /URL|URI|HOST|ENDPOINT|ORIGIN|ADDRESS|PROXY|API_?BASE/i

/** Whether a variable says where requests go, by its name. */
export function isAddressName(variable: string): boolean {
  return address.test(variable)
}

/** Whether the value of a variable says so: a URL with a host. */
export function isAddressValue(value: string | undefined): boolean {
  return value !== undefined && URL.canParse(value) && new URL(value).host !== ''
}

/** Whether a reading is that of such a variable: `process.env.OPENAI_BASE_URL`, or one that was an address when it was read. */
export function isAddress(kind: string, name: string, wasAddress = false): boolean {
  return kind === 'environment' && (wasAddress || isAddressName(name.split('.').at(-1) ?? ''))
}

/** The way in which a variable is taken away. */
export const unset = 'not set'

/** Without it a client is not even made, and a replay stands in for those it knows: only another value is tried. */
const secret = /KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL/i

/** Whether a variable holds what lets a client in, by its name. */
export function isSecretName(variable: string): boolean {
  return secret.test(variable)
}
