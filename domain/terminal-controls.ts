/**
 * Characters that a terminal interprets instead of showing, newline and tab apart, those that change the direction of writing, and those that
 * nobody sees. The joiners are needed by scripts and by emoji: they count where they stand after ASCII, which has no use for them.
 */
export const terminalControls: RegExp =
  /(?![\n\t])(?:[\p{Cc}\p{Zl}\p{Zp}\u00AD\u061C\u115F\u1160\u180E\u200B\u200E\u200F\u202A-\u202E\u2060-\u206F\u3164\uFEFF\uFFA0\u{E0000}-\u{E007F}]|(?<=^|\p{ASCII})[\u200C\u200D])/gu

export const anyControl: RegExp = /\p{Cc}/u

/** A character in visible form, such as `\u001b` or `\u{e0041}`. */
export function escapedCharacter(char: string): string {
  const code = (char.codePointAt(0) ?? 0).toString(16)
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`
}

/** Says what a text has that no log or terminal should get: half of a character, or a control character other than the `allowed` ones. */
export function faultOfText(text: string, allowed: 'none' | 'lines and tabs' = 'none'): string | undefined {
  if (!text.isWellFormed()) return 'has half of a character'
  const [control] = anyControl.exec(allowed === 'none' ? text : text.replaceAll(/[\n\t]/g, ' ')) ?? []
  return control === undefined ? undefined : `has the control character ${escapedCharacter(control)}`
}
