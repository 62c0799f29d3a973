/** A larger text is refused: nobody writes so much of a configuration by hand. */
export const maxJsonBytes = 1024 ** 2

// A comment or a string that is not closed goes to the end, so that no part of a text is looked at for each one that opens.
const stringOrComment = /"[^"\\]*(?:\\[\s\S][^"\\]*)*"?|\/\/[^\n]*|\/\*(?:[^*]|\*(?!\/))*(?:\*\/|$)/g
const stringOrLastComma = /"[^"\\]*(?:\\[\s\S][^"\\]*)*"?|,(?=\s*[\]}])/g

/** Parses JSON with comments, and commas before a closing bracket, of at most `maxJsonBytes`. Throws for any other text, as `JSON.parse` does. */
export function parseJsonWithComments(text: string): unknown {
  const size = Buffer.byteLength(text)
  if (size > maxJsonBytes) throw new SyntaxError(`it has ${size} bytes, and at most ${maxJsonBytes} are read`)
  return JSON.parse(withoutLastCommas(withoutComments(text.replace(/^\uFEFF/, ' '))))
}

/** Returns `text` with spaces in place of the commas that JSON does not have. Its length stays, and so does every offset. */
export function spacedLastCommas(text: string): string {
  const bare = withoutComments(text)
  const spaced = withoutLastCommas(bare)
  let result = ''
  let from = 0
  for (let at = 0; at < bare.length; at++) {
    if (bare[at] === spaced[at]) continue
    result += `${text.slice(from, at)} `
    from = at + 1
  }
  return result + text.slice(from)
}

function withoutComments(text: string): string {
  return text.replaceAll(stringOrComment, (part) => (part.startsWith('"') ? part : part.replaceAll(/[^\n]/g, ' ')))
}

function withoutLastCommas(text: string): string {
  return text.replaceAll(stringOrLastComma, (part) => (part === ',' ? ' ' : part))
}
