/**
 * How much an event shows of a name, an id or a single word that a model or its server wrote, and of a sentence: what they
 * wrote whole is in the attempt's record.
 */
const [maxName, maxSentence] = [200, 2000]

export function shownName(text: string): string {
  return shown(text, maxName)
}

export function shownSentence(text: string): string {
  return shown(text, maxSentence)
}

function shown(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max - 1)}…`
}
