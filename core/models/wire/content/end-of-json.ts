/**
 * Where the JSON object or list that begins at `start` ends, exclusive, by its brackets and strings alone; undefined
 * when the text ends first. Each character is looked at once.
 */
export function endOfJson(text: string, start: number): number | undefined {
  let depth = 0
  for (let at = start; at < text.length; at++) {
    const character = text[at]
    if (character === '"') {
      const quote = endOfString(text, at)
      if (quote === undefined) return undefined
      at = quote
    } else if (character === '{' || character === '[') depth += 1
    else if ((character === '}' || character === ']') && --depth === 0) return at + 1
  }
  return undefined
}

function endOfString(text: string, start: number): number | undefined {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at += 1
    else if (text[at] === '"') return at
  }
  return undefined
}
