import type { Scenario } from './simulate.ts'

/**
 * Eight replicas of an 8-billion model. Reading 8,000 tokens/s and 20 ms per token written are what vLLM's own benchmarks
 * show on a 24 GiB card at a batch of 32; 24 prefixes of 3,000 tokens at 128 KiB each (32 layers, 8 KV heads of 128, 16 bits)
 * are 9 GiB. A turn of a small agent writes a tool call: 40 tokens.
 */
const base = {
  servers: 8,
  server: { slots: 32, prefillPerS: 8000, msPerToken: 20, cachedPrefixes: 24 },
  request: { prefixTokens: 3000, ownTokens: 300, outputTokens: 40 },
  concurrency: 8 * 24,
  requests: 20_000,
  seed: 1,
}

/** 160 prefixes: a few dozen bundles and adapters, each over files whose text comes first; eight caches hold 192. */
export const manyBundles: Scenario = { ...base, prefixes: 160, skew: 0.8 }
/** More than twice as many as the caches hold. */
export const moreBundles: Scenario = { ...manyBundles, prefixes: 400 }
/** Prefixes so short that reading them again costs little. */
export const shortPrefixes: Scenario = { ...manyBundles, request: { ...base.request, prefixTokens: 600 } }
export const singleBundle: Scenario = { ...base, prefixes: 1, skew: 0 }
/** One replica dies and another writes five times slower, a quarter and half way through. */
export const faulty: Scenario = {
  ...manyBundles,
  faults: [
    { after: 5_000, server: 2, fault: 'dies' },
    { after: 10_000, server: 5, fault: 'slow' },
  ],
}
/** One replica keeps accepting requests and answers none. */
export const hanging: Scenario = { ...manyBundles, faults: [{ after: 5_000, server: 2, fault: 'hangs' }] }
