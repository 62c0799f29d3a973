/** At most about `max` characters of `text`: its head and its tail, none of them torn, with how much was cut between. */
export function clip(text: string, max: number): string {
  if (text.length <= max) return text
  const half = Math.floor(max / 2)
  const head = text.slice(0, isTorn(text, half) ? half - 1 : half)
  const at = text.length - half
  const tail = text.slice(isTorn(text, at) ? at + 1 : at)
  return `${head}\n… ${text.length - head.length - tail.length} characters cut …\n${tail}`
}

/** Whether `at` lies between the two halves of one character. */
function isTorn(text: string, at: number): boolean {
  return (text.codePointAt(at - 1) ?? 0) > 0xff_ff
}
