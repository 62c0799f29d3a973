import type { OperationRow } from './outcome-tree.ts'

/** Has a point for each time (seconds since the epoch): how many operations had ended by then, and the tokens that they had used. */
export type History = { times: number[]; ended: number[]; tokens: number[] }

/** Adds up what has ended, from the time `from` (ms) to the last end, in so many steps. */
export function historyOf(rows: Iterable<OperationRow>, from: number, steps = 240): History {
  const ends = [...rows].flatMap(({ endedAt, tokens }) => (endedAt === undefined ? [] : [{ endedAt, tokens }]))
  ends.sort((left, right) => left.endedAt - right.endedAt)
  const last = ends.at(-1)?.endedAt ?? from
  const history: History = { times: [], ended: [], tokens: [] }
  let [ended, tokens] = [0, 0]
  for (let step = 0; step <= steps; step += 1) {
    const time = from + ((last - from) * step) / steps
    for (let end = ends[ended]; end !== undefined && end.endedAt <= time; end = ends[ended]) {
      ended += 1
      tokens += end.tokens
    }
    history.times.push(time / 1000)
    history.ended.push(ended)
    history.tokens.push(tokens)
  }
  return history
}
