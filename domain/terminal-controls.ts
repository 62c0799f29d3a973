/** Characters that a terminal interprets instead of showing, newline and tab apart, and those that change the direction of writing. */
export const terminalControls: RegExp = /(?![\n\t])[\p{Cc}\p{Zl}\p{Zp}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu

export const anyControl: RegExp = /\p{Cc}/u

/** A character in visible form, such as `\u001b`. */
export function escapedCharacter(char: string): string {
  return `\\u${(char.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`
}

/** Says what a text has that no log or terminal should get: half of a character, or a control character other than the `allowed` ones. */
export function faultOfText(text: string, allowed: 'none' | 'lines and tabs' = 'none'): string | undefined {
  if (!text.isWellFormed()) return 'has half of a character'
  const [control] = anyControl.exec(allowed === 'none' ? text : text.replaceAll(/[\n\t]/g, ' ')) ?? []
  return control === undefined ? undefined : `has the control character ${escapedCharacter(control)}`
}
