import { widthOf } from './progress/paint.ts'

/** Rows as lines: the first column aligned to the left, the others to the right, two blanks between them. */
export function textTable(rows: readonly (readonly string[])[]): string[] {
  const count = Math.max(...rows.map((row) => row.length))
  const widths = Array.from({ length: count }, (_, at) => Math.max(...rows.map((row) => widthOf(row[at] ?? ''))))
  return rows.map((row) => {
    const padded = row.map((text, at) => {
      const blank = ' '.repeat((widths[at] ?? 0) - widthOf(text))
      return at === 0 ? `${text}${blank}` : `${blank}${text}`
    })
    return padded.join('  ').trimEnd()
  })
}
