import { delay } from '#platform/clock.ts'

/** The first answer of `condition` but undefined or false. Fails when it throws, or `withinMs` have passed. */
export async function until<T>(
  condition: () => T | undefined | false | Promise<T | undefined | false>,
  options: { withinMs?: number } = {},
): Promise<T> {
  const { withinMs = 45_000 } = options
  const deadline = performance.now() + withinMs
  for (let waitMs = 2; ; waitMs = Math.min(waitMs * 2, 50)) {
    const answer = await condition()
    if (answer !== undefined && answer !== false) return answer
    if (performance.now() > deadline) throw new Error(`not within ${withinMs} ms: ${String(condition).slice(0, 300)}`)
    await delay(waitMs)
  }
}
