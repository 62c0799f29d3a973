import { closest, distance } from 'fastest-levenshtein'

/** Returns the known word that `given` was most likely meant to be, if any comes near. */
export function nearest(given: string, known: readonly string[]): string | undefined {
  if (known.length === 0) return undefined
  const near = closest(given, [...known])
  return distance(given, near) <= Math.max(2, Math.floor(near.length / 3)) ? near : undefined
}
