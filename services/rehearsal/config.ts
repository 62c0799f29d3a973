import { z } from 'zod'
import { Port, readEnv, type Env } from '#platform/env.ts'
import { FaultPlan, FaultShares } from './faults.ts'
import type { RehearsalOptions } from './rehearsal-server.ts'

/** `429:0.05,hang:0.01` */
const SharesText = z
  .string()
  .transform((text) => Object.fromEntries(text.split(',').filter(Boolean).map(nameAndShare)))
  .pipe(FaultShares)

const variables = {
  REMORA_REHEARSAL_HOST: z.string().min(1).default('127.0.0.1'),
  REMORA_REHEARSAL_PORT: Port.default(8421),
  REMORA_REHEARSAL_LATENCY_MS: z.coerce.number().min(0).default(0),
  REMORA_REHEARSAL_FAULTS: SharesText.default({}),
  REMORA_REHEARSAL_SEED: z.coerce.number().int().min(0).default(1),
}

/** CONFIG_003 names every bad variable in one error. */
export function parseConfig(env: Env): Required<RehearsalOptions> {
  const read = readEnv(variables, env)
  return {
    host: read.REMORA_REHEARSAL_HOST,
    port: read.REMORA_REHEARSAL_PORT,
    latencyMs: read.REMORA_REHEARSAL_LATENCY_MS,
    faults: FaultPlan.parse({ shares: read.REMORA_REHEARSAL_FAULTS, seed: read.REMORA_REHEARSAL_SEED }),
  }
}

function nameAndShare(entry: string): [string, number] {
  const [name = '', share = ''] = entry.split(':')
  return [name.trim(), Number.parseFloat(share)]
}
