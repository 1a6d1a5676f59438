/**
 * `node:util` as modules of ours get it. Where an ES module imports it, Node reads all of its exports, and with them loads what
 * no command needs.
 */
const util = process.getBuiltinModule('node:util')

export const {
  getSystemErrorMap,
  getSystemErrorName,
  inspect,
  isDeepStrictEqual,
  parseArgs,
  promisify,
  stripVTControlCharacters,
  styleText,
  types,
} = util
