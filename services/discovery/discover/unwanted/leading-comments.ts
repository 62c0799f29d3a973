/** A generator writes its mark at the head; a license may come before it. */
const maxBytes = 8192
const maxLines = 60

/** Lines of code that stand before or between the comments of a head in some language or other. */
const prelude =
  /^(?:<\?(?:php|xml|hh)\b.*|<!doctype\b.*|['"]use strict['"];?|package\s+[\w.]+;?|#\s*(?:define|include|undef|if|ifdef|ifndef|else|elif|endif|line|pragma|error)\b.*|#!?\[.*|---|\{|%\{|typed: .*)$/i
const lineMark = /^(?:\/\/+!?|#+!?|--+|;+|%+|rem\b|'(?!'))/i
const blocks: readonly { open: RegExp; close: RegExp }[] = [
  { open: /^\/\*+!?/, close: /\*+\// },
  { open: /^<!--/, close: /-->/ },
  { open: /^=begin\b/, close: /^=end\b/ },
  { open: /^[rRuU]?"""/, close: /"""/ },
  { open: /^[rRuU]?'''/, close: /'''/ },
]

/**
 * The text of the comments a file begins with, without their marks, a line each: line comments, block comments and
 * a leading docstring, up to the first line of code. Works on the bytes of any language by its comment marks alone.
 */
export function leadingComments(bytes: Uint8Array): string {
  const head = Buffer.from(bytes.subarray(0, maxBytes))
    .toString('utf8')
    .replace(/^\uFEFF/, '')
  const texts: string[] = []
  let close: RegExp | undefined
  for (const raw of head.split(/\r?\n|\r/, maxLines)) {
    let line = raw.trim()
    if (close === undefined) {
      const block = blocks.find(({ open }) => open.test(line))
      if (block !== undefined) {
        close = block.close
        line = line.replace(block.open, '').trim()
      } else if (prelude.test(line)) continue
      else if (line !== '' && !lineMark.test(line)) break
      else {
        texts.push(bare(line.replace(lineMark, '')))
        continue
      }
    }
    const end = close.exec(line)
    texts.push(bare(end === null ? line : line.slice(0, end.index)))
    if (end === null) continue
    const rest = line.slice(end.index + end[0].length).trim()
    close = undefined
    if (rest !== '' && !lineMark.test(rest) && !rest.startsWith('/*')) {
      texts.push(rest)
      break
    }
  }
  return texts.join('\n')
}

/** Without the decoration of a comment's border. */
function bare(text: string): string {
  return text.replace(/^[\s*#/=\-!|;%~>]+/, '').replace(/[\s*#/=\-|]+$/, '')
}
