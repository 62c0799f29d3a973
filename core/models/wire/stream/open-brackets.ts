export type OpenBrackets = {
  add(piece: string): void
  /** Whether an object or a list has begun, and each that has begun has ended. */
  isWhole(): boolean
}

/** Tells when JSON that comes in pieces is whole, by its brackets and strings alone. Each character is looked at once. */
export function openBrackets(): OpenBrackets {
  let depth = 0
  let hasBegun = false
  let isString = false
  let isEscaped = false
  return {
    add(piece) {
      for (const character of piece) {
        if (isEscaped) isEscaped = false
        else if (isString && character === '\\') isEscaped = true
        else if (character === '"') isString = !isString
        else if (isString) continue
        else if (character === '{' || character === '[') {
          depth += 1
          hasBegun = true
        } else if (character === '}' || character === ']') depth -= 1
      }
    },
    isWhole: () => hasBegun && depth <= 0,
  }
}
