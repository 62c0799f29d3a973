import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { PeerFigures, type PeerArguments } from './measure-peer.ts'

/** What stands beside us: the least loop, the same as a job of the queue we use, the same over the client we use. */
export const peers = [
  { name: 'bare undici loop (floor)', packages: ['undici'], entry: new URL('./bare-undici.ts', import.meta.url) },
  { name: 'the same in BullMQ', packages: ['bullmq', 'undici'], entry: new URL('./bullmq-loop.ts', import.meta.url) },
  { name: 'openai client', packages: ['openai'], entry: new URL('./openai-sdk.ts', import.meta.url) },
]
export type Peer = (typeof peers)[number]

const limitMs = 120_000

/** Runs a peer in a process of its own, started with these options of Node, and answers what it measured. */
export async function runPeer(
  peer: Peer,
  given: PeerArguments,
  nodeOptions: readonly string[] = [],
): Promise<PeerFigures> {
  const { url, redisUrl, agents, warmup, concurrency } = given
  const args = [...nodeOptions, fileURLToPath(peer.entry), url, redisUrl, ...[agents, warmup, concurrency].map(String)]
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: limitMs })
  return PeerFigures.parse(JSON.parse(stdout))
}
