/** Version of this package; `test/version.test.ts` holds it to package.json. */
export const version = '0.1.0'
