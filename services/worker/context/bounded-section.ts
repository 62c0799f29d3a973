/** A heading with entries under it, of which some may have to go. */
export type Section = {
  heading: string
  entries: readonly string[]
  /** How many there are besides, which nobody handed over. */
  more: number
  /** Which end goes first when not all fit: `last`, or `first` where the newest stands last. */
  cut: 'first' | 'last'
}

/**
 * The section in at most `room` UTF-16 units, with a line that says how many entries are missing. Empty when it has
 * nothing to say, or no room for its heading and that line.
 */
export function boundedSection({ heading, entries, more, cut }: Section, room: number): string {
  const written = (shown: readonly string[]) => {
    const missing = more + entries.length - shown.length
    if (missing === 0) return [heading, ...shown].join('\n')
    return (
      cut === 'first' ? [heading, `… ${missing} before`, ...shown] : [heading, ...shown, `… ${missing} more`]
    ).join('\n')
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
