import { beginsLine } from './text-position.ts'

/** Code in Markdown. `isOpen` when its end is missing: then it goes to the end of the text, or of the paragraph. */
export type FoundCode = { end: number; isOpen: boolean; fence?: { info: string; body: string } }

/** The fence or the inline code that the run of `ticks` (or of `~`) at `at` begins; undefined for `~` that begin no fence. */
export function findCode(text: string, at: number, ticks: string): FoundCode | undefined {
  return findFence(text, at, ticks) ?? (ticks.startsWith('`') ? findInlineCode(text, at, ticks) : undefined)
}

/** A fence ends with a line of as many marks or more and nothing else. */
function findFence(text: string, at: number, ticks: string): FoundCode | undefined {
  if (ticks.length < 3 || !beginsLine(text, at)) return undefined
  const firstLine = /([^`\r\n]*)\r?\n/y
  firstLine.lastIndex = at + ticks.length
  const info = firstLine.exec(text)?.[1]
  if (info === undefined) return undefined
  const start = firstLine.lastIndex
  const closings = /^[ \t]*(`{3,}|~{3,})[ \t]*\r?$/gm
  closings.lastIndex = start
  for (let close = closings.exec(text); close !== null; close = closings.exec(text)) {
    if (close[1]?.startsWith(ticks) !== true) continue
    return { end: closings.lastIndex, isOpen: false, fence: { info, body: text.slice(start, close.index) } }
  }
  return { end: text.length, isOpen: true, fence: { info, body: text.slice(start) } }
}

/**
 * Inline code ends with a run of as many ticks. One that does not end takes the rest of its paragraph, or of the thought: of
 * a text that was cut nobody can say what would have been code.
 */
function findInlineCode(text: string, at: number, ticks: string): FoundCode {
  const stops = /`+|\n[ \t]*(?:\r?\n|<\/think>)/g
  stops.lastIndex = at + ticks.length
  for (let stop = stops.exec(text); stop !== null; stop = stops.exec(text)) {
    if (stop[0] === ticks) return { end: stops.lastIndex, isOpen: false }
    const isFence = stop[0].startsWith('```') && beginsLine(text, stop.index)
    if (isFence || stop[0].startsWith('\n')) return { end: stop.index, isOpen: true }
  }
  return { end: text.length, isOpen: true }
}
