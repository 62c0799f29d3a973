import type { BundleDiagnostic } from '#bundles/check-paths.ts'
import { visible } from './terminal-text.ts'

const maxShown = 120
const indentation = '    '
const wide =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\uFF01-\uFF60]/u
const withoutWidth = /[\p{M}\p{Cf}]/u

/** Writes a diagnostic as editors read it, `file:line:column code message`, then the line and a caret under the column. */
export function diagnosticText({ file, line, column, code, severity, message, source }: BundleDiagnostic): string {
  const kind = severity === 'warning' ? 'warning: ' : ''
  const shown = source === undefined || source.trim() === '' ? '' : withCaret(source.trimEnd(), column - 1)
  return `${file}:${line}:${column} ${code} ${kind}${message}\n${shown}`
}

function withCaret(source: string, at: number): string {
  const from = source.length <= maxShown || at < maxShown / 2 ? 0 : at - maxShown / 2
  const before = `${from > 0 ? '…' : ''}${visible(source.slice(from, at))}`
  const after = `${visible(source.slice(at, from + maxShown))}${source.length > from + maxShown ? '…' : ''}`
  const blank = Array.from(before, blankAs).join('')
  return `${indentation}${before}${after}\n${indentation}${blank}^\n`
}

/** Returns white space as wide as the character: two columns for some, none for accents. */
function blankAs(char: string): string {
  if (char === '\t') return char
  if (withoutWidth.test(char)) return ''
  return wide.test(char) ? '  ' : ' '
}
