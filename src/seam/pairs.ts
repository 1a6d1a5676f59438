/** Headers as pairs of name and value, in order. */
export type Pairs = readonly (readonly [string, string])[]
