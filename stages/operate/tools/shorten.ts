import { isRecord } from '#domain/json.ts'

/** Limits for each text and list, from generous to tight; the first that makes the whole short enough is used. */
const cuts = [
  { text: 8_000, items: 400 },
  { text: 4_000, items: 200 },
  { text: 2_000, items: 100 },
  { text: 1_000, items: 50 },
  { text: 400, items: 20 },
  { text: 120, items: 8 },
] as const

/** Deeper values become text: a tool's result may be nested too deeply for recursion. */
const maxDepth = 60

/** Shortens `value` until its JSON has about `max` characters: texts lose their middle and lists their end, each with a note. */
export function fitValue(value: unknown, max: number): unknown {
  if (lengthOf(value) <= max) return value
  let shortened = value
  for (const cut of cuts) {
    shortened = shorten(value, cut, 0)
    if (lengthOf(shortened) <= max) return shortened
  }
  return clip(JSON.stringify(shortened) ?? '', max)
}

function lengthOf(value: unknown): number {
  return JSON.stringify(value)?.length ?? 0
}

function shorten(value: unknown, cut: { text: number; items: number }, depth: number): unknown {
  if (typeof value === 'string') return clip(value, cut.text)
  if (depth > maxDepth) return '… nested too deeply to be shown …'
  if (Array.isArray(value)) {
    const shown = value.slice(0, cut.items).map((item) => shorten(item, cut, depth + 1))
    return value.length > cut.items ? [...shown, `… ${value.length - cut.items} more are left out …`] : shown
  }
  if (!isRecord(value)) return value
  const entries = Object.entries(value)
  const shown = entries.slice(0, cut.items).map(([key, item]) => [key, shorten(item, cut, depth + 1)] as const)
  return Object.fromEntries(
    entries.length > cut.items ? [...shown, ['…', `${entries.length - cut.items} more keys are left out`]] : shown,
  )
}

/** The head and the tail of `text`, about `max` characters, with a note of the rest. Splits no surrogate pair. */
export function clip(text: string, max: number): string {
  if (text.length <= max) return text
  const half = Math.floor(max / 2)
  const head = text.slice(0, splitsPair(text, half) ? half - 1 : half)
  const at = text.length - half
  const tail = text.slice(splitsPair(text, at) ? at + 1 : at)
  return `${head}\n… ${text.length - head.length - tail.length} characters cut …\n${tail}`
}

function splitsPair(text: string, at: number): boolean {
  return (text.codePointAt(at - 1) ?? 0) > 0xff_ff
}

/** Returns the text, or its first and last lines with a note of those left out. `firstLine` is its 1-based line in the file. */
export function nodeExcerpt(text: string, { firstLine, maxCharacters }: { firstLine: number; maxCharacters: number }) {
  if (text.length <= maxCharacters) return text
  const lines = text.split('\n')
  const head = takeLines(lines, Math.floor((maxCharacters * 3) / 4))
  const tail = takeLines(lines.slice(head.length).toReversed(), Math.floor(maxCharacters / 4)).toReversed()
  const [from, to] = [firstLine + head.length, firstLine + lines.length - tail.length - 1]
  if (from > to) return [...head, ...tail].join('\n')
  return [...head, `[lines ${from} to ${to} of the file are left out]`, ...tail].join('\n')
}

/** Longer lines are cut: a single line may be larger than any prompt. */
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

function cutLine(line: string): string {
  const head = line.slice(0, longestLine)
  const whole = head.isWellFormed() ? head : head.slice(0, -1)
  return `${whole} [${line.length - whole.length} characters left out]`
}
