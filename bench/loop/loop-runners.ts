import type { Peer } from '../peers/run-peer.ts'

/** The least an agent of three turns can cost: every ratio is against it. */
export const floorRunner: Peer = {
  name: 'bare undici loop (floor)',
  packages: ['undici'],
  entry: new URL('../peers/bare-undici.ts', import.meta.url),
}
export const ourRunner: Peer = {
  name: '**remora: loop and pool**',
  packages: ['openai', 'undici'],
  entry: new URL('./remora-loop.ts', import.meta.url),
}
/** The client we use, with its own fetch and nothing of ours. */
export const clientRunner: Peer = {
  name: 'bare openai client',
  packages: ['openai'],
  entry: new URL('../peers/openai-sdk.ts', import.meta.url),
}

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
