import { z } from 'zod'
import { readEnv, type Env } from '#platform/env.ts'
import { environmentOf } from '#settings/settings-table.ts'
import { FaultName, faultNames, FaultPlan, FaultShares } from './faults.ts'
import { RefusalName } from './refusals.ts'
import type { RehearsalOptions } from './rehearsal-server.ts'

/** `429:0.05,hang:0.01` */
const SharesText = z
  .string()
  .transform((text) => Object.fromEntries(text.split(',').filter(Boolean).map(nameAndShare)))
  .superRefine((shares, context) => {
    const unknown = Object.keys(shares).find((name) => !FaultName.safeParse(name).success)
    const known = faultNames.join(', ')
    if (unknown !== undefined) context.addIssue(`${JSON.stringify(unknown)} is no fault: known are ${known}`)
  })
  .pipe(FaultShares)

const { REMORA_REHEARSAL_HOST, REMORA_REHEARSAL_PORT, ...behaviour } = environmentOf('rehearsal')

/** These decide how the model answers, wherever it runs: as a service, in an embedded stack or in a command. */
export const behaviourEnv = {
  ...behaviour,
  REMORA_REHEARSAL_FAULTS: behaviour.REMORA_REHEARSAL_FAULTS.pipe(SharesText),
  REMORA_REHEARSAL_REFUSES: behaviour.REMORA_REHEARSAL_REFUSES.pipe(z.array(RefusalName)),
}

const rehearsalEnv = { REMORA_REHEARSAL_HOST, REMORA_REHEARSAL_PORT, ...behaviourEnv }

export type RehearsalBehaviour = Required<Pick<RehearsalOptions, 'latencyMs' | 'faults' | 'refusals'>>

/** CONFIG_003 names every bad variable in one error. */
export function parseConfig(env: Env): Required<RehearsalOptions> {
  const read = readEnv(rehearsalEnv, env)
  return { host: read.REMORA_REHEARSAL_HOST, port: read.REMORA_REHEARSAL_PORT, ...behaviourOf(read) }
}

/** Serves a rehearsal model that is no service of its own. Throws CONFIG_003 as `parseConfig` does. */
export function parseBehaviour(env: Env): RehearsalBehaviour {
  return behaviourOf(readEnv(behaviourEnv, env))
}

function behaviourOf(read: z.infer<z.ZodObject<typeof behaviourEnv>>): RehearsalBehaviour {
  return {
    latencyMs: read.REMORA_REHEARSAL_LATENCY_MS,
    faults: FaultPlan.parse({ shares: read.REMORA_REHEARSAL_FAULTS, seed: read.REMORA_REHEARSAL_SEED }),
    refusals: new Set(read.REMORA_REHEARSAL_REFUSES),
  }
}

function nameAndShare(entry: string): [string, number] {
  const [name = '', share = ''] = entry.split(':')
  return [name.trim(), Number.parseFloat(share)]
}
