/**
 * Whether a request is a mere read, which a process may make once and keep: nothing is asked of a model so, or changed. A
 * token is a read with the method of a change.
 */
export function isSharedRead(method: string, bodyText: string): boolean {
  switch (method.toUpperCase()) {
    case 'GET':
    case 'HEAD':
      return bodyText === ''
    default:
      return isTokenRead(method, bodyText)
  }
}

/** Whether a request is for a token: RFC 6749, section 4, every one of them is a form with this field. */
export function isTokenRead(method: string, bodyText: string): boolean {
  return method.toUpperCase() === 'POST' && new URLSearchParams(bodyText).has('grant_type')
}

/** Where recordings keep, once for all cases, what a process fetches once: a folder beside the golden set. */
export const sharedFolder = 'shared'

/** Where a recorder keeps what its process fetched outside its runs: in a folder beside their tapes that is not listed. */
export const outsideFolder = '.shared'
