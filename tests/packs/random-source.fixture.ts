/** Text that is no source, the same for a seed: valid UTF-8 without NUL, in lines, `length` UTF-16 units or pieces of it. */
export function randomSource(seed: number, length: number) {
  let state = seed >>> 0
  /** A linear congruential generator (Numerical Recipes); the higher bits are the better ones. */
  const below = (limit: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * limit)
  }
  const ranges = [0x7f, 0x7f, 0x7f, 0x7ff, 0xd7ff, 0x10_ffff]
  const character = (at: number) => {
    if (at % 60 === 0) return '\n'
    const code = 1 + below(ranges[below(ranges.length)] ?? 0x7f)
    return code >= 0xd800 && code <= 0xdfff ? ' ' : String.fromCodePoint(code)
  }
  return {
    characters: () => Array.from({ length }, (_, at) => character(at)).join(''),
    picks: (pieces: readonly string[]) => {
      const count = Math.floor(length / 4)
      return Array.from({ length: count }, () => pieces[below(pieces.length)] ?? '').join('')
    },
  }
}
