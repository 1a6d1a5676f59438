import type { RecordedError } from '../tape/index.ts'

/** The recorded error once more, of a class of the same name. */
export function errorAgain({ name, message, code, type, facts }: RecordedError): Error & { code?: string } {
  const Kind = type === undefined ? Error : errorClass(type)
  const error: Error & { code?: string } = Object.assign(new Kind(message), facts)
  if (error.name !== name) Object.defineProperty(error, 'name', { value: name, configurable: true, writable: true })
  if (code !== undefined) error.code = code
  return error
}

const errorClasses = new Map<string, ErrorConstructor>()

function errorClass(type: string): ErrorConstructor {
  let Kind = errorClasses.get(type)
  if (!Kind) {
    Kind = class extends Error {} as ErrorConstructor
    Object.defineProperty(Kind, 'name', { value: type })
    errorClasses.set(type, Kind)
  }
  return Kind
}
