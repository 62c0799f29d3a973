/** A part that stands for any number of items, none included. */
export const star = Symbol('star')

/**
 * Whether `parts` cover all of `length` items from the first on. `widthAt` says how many items a part takes at a place,
 * undefined when it does not fit there. Only the last star met is ever widened: what earlier ones took cannot matter
 * any more. The work is therefore at most parts × length, whatever the pattern.
 */
export function starMatch<Part>(
  parts: readonly (Part | typeof star)[],
  length: number,
  widthAt: (part: Part, at: number) => number | undefined,
): boolean {
  let next = 0
  let at = 0
  let afterStar = -1 // the part behind the last star met; -1 before the first
  let starEnd = 0
  while (next < parts.length || at < length) {
    const part = parts[next]
    if (part === star) {
      next += 1
      afterStar = next
      starEnd = at
      continue
    }
    const width = part === undefined ? undefined : widthAt(part, at)
    if (width !== undefined) {
      next += 1
      at += width
    } else if (afterStar >= 0 && starEnd < length) {
      starEnd += 1
      next = afterStar
      at = starEnd
    } else return false
  }
  return true
}
