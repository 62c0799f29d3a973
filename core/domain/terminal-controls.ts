/**
 * What a terminal obeys instead of showing it: control characters but the newline and the tab, and what turns the
 * direction of writing.
 */
export const terminalControls: RegExp = /(?![\n\t])[\p{Cc}\p{Zl}\p{Zp}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu

/** A character as `\u001b`, to be shown instead of obeyed. */
export function escapedCharacter(char: string): string {
  return `\\u${(char.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`
}
