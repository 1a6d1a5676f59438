/** How to say which step. */
export const toNameStep = [
  "to see the steps: npx vitest-harvest show '<tape|case>'",
  "with one of them: --step '<n>'",
] as const
