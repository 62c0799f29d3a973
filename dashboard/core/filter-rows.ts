import { pause } from '#client/timers.ts'

/** Rows that are looked at in one go: a few ms. */
const atOnce = 5_000

/** Returns the rows that are wanted. It lets the page answer its reader in between, so that a letter does not wait for 100,000 rows. */
export async function filterRows<Row>(rows: readonly Row[], isWanted: (row: Row) => boolean): Promise<Row[]> {
  const found: Row[] = []
  for (let from = 0; from < rows.length; from += atOnce) {
    if (from > 0) await pause(0, undefined)
    for (const row of rows.slice(from, from + atOnce)) if (isWanted(row)) found.push(row)
  }
  return found
}
