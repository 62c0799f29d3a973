export type Random = ReturnType<typeof openRandom>

/** mulberry32: good enough to spread faults, and the same on every machine. */
export function openRandom(seed: number) {
  let state = seed >>> 0
  const fraction = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const int = (least: number, most: number) => least + Math.floor(fraction() * (most - least + 1))
  return {
    /** Draws from [0, 1). */
    fraction,
    int,
    chance: (share: number) => fraction() < share,
    pick: <T>(choices: readonly [T, ...T[]]) => choices[int(0, choices.length - 1)] ?? choices[0],
  }
}
