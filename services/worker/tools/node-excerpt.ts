/**
 * The text of a node for a prompt: whole, or its first and its last lines with how many are left out between them, so that
 * a large node still fits what a model takes. `firstLine` is the 1-based line of the file that the text starts in.
 */
export function nodeExcerpt(text: string, { firstLine, maxCharacters }: { firstLine: number; maxCharacters: number }) {
  if (text.length <= maxCharacters) return text
  const lines = text.split('\n')
  const head = takeLines(lines, Math.floor((maxCharacters * 3) / 4))
  const tail = takeLines(lines.slice(head.length).toReversed(), Math.floor(maxCharacters / 4)).toReversed()
  const [from, to] = [firstLine + head.length, firstLine + lines.length - tail.length - 1]
  if (from > to) return [...head, ...tail].join('\n')
  return [...head, `[lines ${from} to ${to} of the file are left out]`, ...tail].join('\n')
}

/** The longest of them is cut: a single line may be larger than any prompt. */
const longestLine = 2_000

function takeLines(lines: readonly string[], maxCharacters: number): string[] {
  const taken: string[] = []
  let left = maxCharacters
  for (const line of lines) {
    const shown = line.length > longestLine ? cutLine(line) : line
    if (shown.length + 1 > left) break
    taken.push(shown)
    left -= shown.length + 1
  }
  return taken
}

/** Without half a character at its end. */
function cutLine(line: string): string {
  const head = line.slice(0, longestLine)
  const whole = head.isWellFormed() ? head : head.slice(0, -1)
  return `${whole} [${line.length - whole.length} characters left out]`
}
