import type { Probed } from './probe-capabilities.ts'

/**
 * What is known after another probe: what a probe that left something unclear did not find lacking is as it was found before.
 * A server at full load answers no probe in time, and lacks what it lacked.
 */
export function withEarlier(probed: Probed, earlier: Probed | undefined): Probed {
  if (probed.conclusive || earlier === undefined) return probed
  const kept = Object.entries(earlier.capabilities).filter(
    ([name]) => Object.hasOwn(earlier.lacks, name) && !Object.hasOwn(probed.lacks, name),
  )
  const capabilities = { ...probed.capabilities, ...Object.fromEntries(kept) }
  return { capabilities, lacks: { ...earlier.lacks, ...probed.lacks }, conclusive: false }
}
