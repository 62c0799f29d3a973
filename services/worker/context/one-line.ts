/** `text` in one line of at most `max` UTF-16 units; what was cut shows as `…` at its end. */
export function oneLine(text: string, max: number): string {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  if (line.length <= max) return line
  // Half a character at the cut would be no text.
  return `${line.slice(0, Math.max(0, max - 1)).replace(/[\uD800-\uDBFF]$/, '')}…`
}
