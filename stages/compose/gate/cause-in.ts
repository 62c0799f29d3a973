/** A line that says why: by its words, at its very beginning, since what is indented only shows where. */
const causes = [
  // pytest's own mark of the error that a test ended with.
  /^E {3}\S/,
  /^(?:[\w.]*(?:Error|Exception)\b|--- FAIL|panic:|fatal:|not ok\b|Assertion)/,
  /^\S.*\b(?:errors?|fatal|cannot|can't|could not|couldn't|unable to|not found|no such file|refused|denied|disabled|missing|requires?|timed out)\b/i,
]
const mostCharacters = 300

/** Returns the line that says why a program failed, as far as its words tell; else the last. */
export function causeIn(output: string): string {
  const lines = output.split('\n').filter((line) => line.trim() !== '')
  const [reason = lines.at(-1) ?? 'it wrote nothing'] = causes.flatMap(
    (cause) => lines.find((line) => cause.test(line)) ?? [],
  )
  return reason
    .replace(/^E {3}/, '')
    .trim()
    .slice(0, mostCharacters)
}
