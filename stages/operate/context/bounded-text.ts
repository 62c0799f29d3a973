/** A heading with entries under it, some of which may be cut. */
export type Section = {
  heading: string
  entries: readonly string[]
  /** Counts the entries besides those given; 0 by default. */
  more?: number
  /** Says which end is cut when not all entries fit: `last`, the default, or `first` where the newest entry is the last. */
  cut?: 'first' | 'last'
}

/**
 * The section in at most `room` UTF-16 units, with a line that counts the missing entries. Empty when there are no entries,
 * or no room for the heading and that line.
 */
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

/** Returns `text` in one line of at most `max` UTF-16 units, with `…` at its end where it was cut. */
export function oneLine(text: string, max: number): string {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  if (line.length <= max) return line
  // The cut must not leave half of a surrogate pair.
  return `${line.slice(0, Math.max(0, max - 1)).replace(/[\uD800-\uDBFF]$/, '')}…`
}

const longestWord = 400

/** Cuts to at most `max` characters, between two words: of half a key nobody would know that it is one. */
export function beginningOf(text: string, max: number): string {
  if (text.length <= max) return text
  const least = Math.max(0, max - longestWord)
  const lastBlank = /\s\S*$/.exec(text.slice(least, max + 1))
  return text.slice(0, lastBlank === null ? max : least + lastBlank.index)
}

const [maxKeys, maxKey, maxValue] = [20, 100, 200]

/** A tool's `knowledge_delta`, short enough for an event: its first keys, and long values as the beginning of their JSON. */
export function shortKnowledge(delta: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const entries = Object.entries(delta).slice(0, maxKeys)
  return Object.fromEntries(entries.map(([key, value]) => [oneLine(key, maxKey), shortValue(value)]))
}

function shortValue(value: unknown): unknown {
  const json = JSON.stringify(value) ?? ''
  return json.length <= maxValue ? value : oneLine(`${beginningOf(json, maxValue - 1)}…`, maxValue)
}
