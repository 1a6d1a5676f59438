/** Names of variables that say where requests go, which is no part of a run. */
const address = /URL|URI|HOST|ENDPOINT|ORIGIN|ADDRESS|PROXY/i

/** Whether a variable says where requests go, by its name. */
export function isAddressName(variable: string): boolean {
  return address.test(variable)
}

/** Whether a reading is that of such a variable: `process.env.OPENAI_BASE_URL`. */
export function isAddress(kind: string, name: string): boolean {
  return kind === 'environment' && isAddressName(name.split('.').at(-1) ?? '')
}

/** The way in which a variable is taken away. */
export const unset = 'not set'
