import { tool } from '../../src/record/index.ts'

const look = tool('look', async (row: number) => {
  await Promise.resolve()
  return { row, seen: `row ${row}` }
})

/** Looks at so many rows, one after the other. */
export async function longAgent({ rows }: { readonly rows: number }): Promise<number> {
  let seen = 0
  for (let row = 1; row <= rows; row++) {
    const { row: got } = await look(row)
    seen += got
  }
  return seen
}
