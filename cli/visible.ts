import { stripVTControlCharacters } from 'node:util'
import { escapedCharacter, terminalControls } from '#domain/terminal-controls.ts'

const ends = /[\n\t]/g

/** Text of others (names, paths, words of a model) with `\u001b` and the like for what a terminal would obey. */
export function visible(text: string): string {
  return text.replaceAll(terminalControls, escapedCharacter)
}

/** The same for a name within a line, which must not look like another line. */
export function visibleName(text: string): string {
  return visible(text).replaceAll(ends, escapedCharacter)
}

/** The same for one line of a picture: without what a terminal would obey, and without newlines. */
export function onOneLine(text: string): string {
  return stripVTControlCharacters(text).replaceAll(terminalControls, ' ').replaceAll(ends, ' ')
}
