/** The address of a page of docs/, which is not packed: `page('rules')`. */
export function page(name: string): string {
  return `https://github.com/vitest-harvest/vitest-harvest/blob/main/docs/${name}.md`
}
