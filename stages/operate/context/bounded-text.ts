export type Section = {
  heading: string
  entries: readonly string[]
  more?: number
  /** Says which end is cut when not all entries fit: `last`, the default, or `first` where the newest entry is the last. */
  cut?: 'first' | 'last'
}

/** Writes at most `room` UTF-16 units, with a line that counts the missing entries; empty without entries, or without room for these. */
export function boundedSection({ heading, entries, more = 0, cut = 'last' }: Section, room: number): string {
  const written = (shown: readonly string[]) => {
    const missing = more + entries.length - shown.length
    const note = missing === 0 ? [] : [`… ${missing} ${cut === 'first' ? 'before' : 'more'}`]
    return [heading, ...(cut === 'first' ? [...note, ...shown] : [...shown, ...note])].join('\n')
  }
  if (entries.length + more === 0) return ''
  const whole = written(entries)
  if (whole.length <= room) return whole
  const least = written([])
  if (least.length > room) return ''
  let left = room - least.length
  const kept = entries.slice(0, 0)
  for (const entry of cut === 'first' ? entries.toReversed() : entries) {
    left -= entry.length + 1
    if (left < 0) break
    kept.push(entry)
  }
  return written(cut === 'first' ? kept.toReversed() : kept)
}

/** Writes `text` in one line of at most `max` UTF-16 units, with `…` at its end where it was cut. */
export function oneLine(text: string, max: number): string {
  return shortened(text.replaceAll(/\s+/g, ' ').trim(), max)
}

/** Returns at most `max` UTF-16 units of the text, with `…` at the end where it was cut between two words. */
export function shortened(text: string, max: number): string {
  return text.length <= max ? text : `${beginningOf(text, max - 1)}…`
}

const longestWord = 400

/** Cuts to at most `max` UTF-16 units, between two words: of half a key nobody would know that it is one. */
export function beginningOf(text: string, max: number): string {
  if (text.length <= max) return text
  const least = Math.max(0, max - longestWord)
  const lastBlank = /\s\S*$/.exec(text.slice(least, max + 1))
  const end = lastBlank === null ? max : least + lastBlank.index
  return text.slice(0, end).replace(/[\uD800-\uDBFF]$/, '')
}

/** Fences a foreign text: the fence is longer than any in the text. */
export function fenced(text: string, language = ''): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map(({ length }) => length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${text.trimEnd()}\n${fence}`
}

const [maxKeys, maxKey, maxValue] = [20, 100, 200]

/** A tool's `knowledge_delta`, short enough for an event: its first keys, and long values as the beginning of their JSON. */
export function shortKnowledge(delta: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const entries = Object.entries(delta).slice(0, maxKeys)
  return Object.fromEntries(entries.map(([key, value]) => [oneLine(key, maxKey), shortValue(value)]))
}

function shortValue(value: unknown): unknown {
  const json = JSON.stringify(value) ?? ''
  return json.length <= maxValue ? value : shortened(json, maxValue)
}
