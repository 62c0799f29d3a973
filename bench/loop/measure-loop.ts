import { mapBounded } from '#objects/map-bounded.ts'
import { measurePeer, peerArguments, type PeerArguments } from '../peers/measure-peer.ts'

/** Measures a runner: `open` builds what its agents share and answers how one of them is run. */
export async function measureLoop(
  open: (given: PeerArguments) => (number: number) => Promise<unknown>,
): Promise<never> {
  const given = peerArguments()
  const runAgent = open(given)
  return measurePeer(given, (numbers) => mapBounded(numbers, given.concurrency, runAgent))
}
