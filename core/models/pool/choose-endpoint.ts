/** What routing knows of an endpoint. */
export type Candidate = { free(): number }

/**
 * Round robin by `turn`, skipping endpoints without a free place while another has one, and the one that has just
 * failed (`avoid`) while there is another. The list must not be empty.
 */
export function chooseEndpoint<T extends Candidate>(endpoints: readonly T[], turn: number, avoid?: T): T {
  const others = endpoints.length > 1 ? endpoints.filter((endpoint) => endpoint !== avoid) : endpoints
  const start = turn % others.length
  const inOrder = [...others.slice(start), ...others.slice(0, start)]
  const chosen = inOrder.find((endpoint) => endpoint.free() > 0) ?? inOrder[0]
  if (chosen === undefined) throw new Error('the pool has no endpoint')
  return chosen
}
