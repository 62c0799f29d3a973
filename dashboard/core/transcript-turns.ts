import type { TranscriptEntry } from '#schemas/transcript-schema.ts'

/** Holds what an attempt has said so far; `began` is the attempt with which this conversation began, which later ones may go on from. */
export type Said = { began: number; attempt: number; entries: readonly TranscriptEntry[] }

type Part = { attempt: number; entry: TranscriptEntry }

/** Says whether an event of the stream of a conversation has an entry: the client knows such frames as events of a run. */
export function isPart(event: unknown): event is Part {
  return typeof event === 'object' && event !== null && 'attempt' in event && 'entry' in event
}

/**
 * Adds an entry. Its id is `<began>-<n>`: with another beginning, another conversation begins. The answer to a question comes in
 * the place of the question, whose own id ends in `.1`.
 */
export function withPart(said: Said | undefined, id: string, { attempt, entry }: Part): Said {
  const began = Number.parseInt(id, 10)
  const entries = said === undefined || said.began !== began ? [] : said.entries
  const asked = entries.at(-1)?.kind === 'question' ? entries.slice(0, -1) : entries
  return { began, attempt, entries: [...asked, entry] }
}

export type Turn = { turn: number; entries: readonly TranscriptEntry[] }

/** Groups entries by turn. What comes before the first one is turn 0: the prompts. */
export function turnsOf(entries: readonly TranscriptEntry[]): Turn[] {
  const turns: { turn: number; entries: TranscriptEntry[] }[] = []
  for (const entry of entries) {
    const last = turns.at(-1)
    const turn = entry.kind === 'message' ? (last?.turn ?? 0) : entry.turn
    if (last === undefined || last.turn !== turn) turns.push({ turn, entries: [entry] })
    else last.entries.push(entry)
  }
  return turns
}

/** Shows JSON with one value in a line, and what is no JSON as it is. */
export function prettyJson(text: string): string {
  try {
    return shownValue(JSON.parse(text))
  } catch {
    return text
  }
}

export function shownValue(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value, undefined, 2) ?? '')
}

/** Cuts a text after so many lines or characters; undefined where it is short enough to be shown whole. */
export function beginningOf(
  text: string,
  { lines, characters }: { lines: number; characters: number },
): string | undefined {
  const first = text.split('\n', lines + 1)
  const cut = first.length > lines ? first.slice(0, lines).join('\n') : text
  return cut.length <= characters ? (cut.length < text.length ? cut : undefined) : cut.slice(0, characters)
}
