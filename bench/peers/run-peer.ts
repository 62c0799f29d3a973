import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type PeerArguments, PeerFigures } from './measure-peer.ts'

/** A program that runs the bench's agents, in a process of its own. */
export type Peer = { name: string; packages: readonly string[]; entry: URL }

/** The least that an agent of three turns can cost: the base of every ratio. */
export const floorRunner: Peer = {
  name: 'bare undici loop (floor)',
  packages: ['undici'],
  entry: new URL('./bare-undici.ts', import.meta.url),
}
const openaiEntry = new URL('./openai-sdk.ts', import.meta.url)

/** What a whole operation is compared with: the least loop, the same as a job of our queue, the same over our client. */
export const peers: readonly Peer[] = [
  floorRunner,
  { name: 'the same in BullMQ', packages: ['bullmq', 'undici'], entry: new URL('./bullmq-loop.ts', import.meta.url) },
  { name: 'openai client', packages: ['openai'], entry: openaiEntry },
]

export const ourRunner: Peer = {
  name: '**remora: loop and pool**',
  packages: ['openai', 'undici'],
  entry: new URL('./remora-loop.ts', import.meta.url),
}
/** The client that we use, with its own fetch and none of our code. */
export const clientRunner: Peer = { name: 'bare openai client', packages: ['openai'], entry: openaiEntry }

/** Their packages are those of bench/frameworks. */
export const frameworkRunners: readonly Peer[] = [
  {
    name: 'ai (generateText)',
    packages: ['ai', '@ai-sdk/openai-compatible'],
    entry: new URL('../frameworks/ai-sdk.mjs', import.meta.url),
  },
  {
    name: '@openai/agents',
    packages: ['@openai/agents', 'openai'],
    entry: new URL('../frameworks/openai-agents.mjs', import.meta.url),
  },
  {
    name: '@langchain/langgraph',
    packages: ['@langchain/langgraph', '@langchain/openai'],
    entry: new URL('../frameworks/langgraph.mjs', import.meta.url),
  },
]

const limitMs = 120_000

/** Runs a peer in a process of its own, started with these options of Node, and returns what it measured. */
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
