import { z } from 'zod'
import { Port, readEnv, type Env } from '#platform/env.ts'
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

/** `named,required` */
const RefusalsText = z
  .string()
  .transform((text) => text.split(',').filter(Boolean))
  .pipe(z.array(RefusalName))

/** How it answers, wherever it runs: as a service, in an embedded stack or in a command. */
export const behaviourEnv = {
  REMORA_REHEARSAL_LATENCY_MS: z.coerce.number().min(0).max(3_600_000).default(0).describe('added to every reply'),
  REMORA_REHEARSAL_FAULTS: SharesText.default({}).describe('shares of injected faults, `429:0.05,hang:0.01`'),
  REMORA_REHEARSAL_REFUSES: RefusalsText.default([]).describe(
    'what it answers 400 to, as some servers do: `named,required`; also `system_role`, `tools`, `auto`, `strict_schemas`, `strict_arguments`, `parallel_calls`, `tool_messages`, `json_schema`, `structural_tag`, `ebnf`, `stream_usage`',
  ),
  REMORA_REHEARSAL_SEED: z.coerce.number().int().min(0).default(1).describe('of the faults'),
}

export const rehearsalEnv = {
  REMORA_REHEARSAL_HOST: z.string().min(1).default('127.0.0.1').describe('where it listens'),
  REMORA_REHEARSAL_PORT: Port.default(8421).describe('0 takes a free port'),
  ...behaviourEnv,
}

export type RehearsalBehaviour = Required<Pick<RehearsalOptions, 'latencyMs' | 'faults' | 'refusals'>>

/** CONFIG_003 names every bad variable in one error. */
export function parseConfig(env: Env): Required<RehearsalOptions> {
  const read = readEnv(rehearsalEnv, env)
  return { host: read.REMORA_REHEARSAL_HOST, port: read.REMORA_REHEARSAL_PORT, ...behaviourOf(read) }
}

/** For a rehearsal model that is no service of its own. CONFIG_003 as `parseConfig`. */
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
