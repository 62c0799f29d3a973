import { z } from 'zod'
import { anyControl } from './terminal-controls.ts'

/** A command for a shell, in the top folder of the repository. */
export const ShellCommand = z
  .string()
  .min(1)
  .max(1_000)
  .refine((text) => !anyControl.test(text), 'has a control character')

/** Says how far a setup of the snapshot is. `wanted`: the run waits for it. `failed`: programs of the run are not started. */
export const RunEnvironment = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('wanted'), command: z.string() }),
  z.object({
    kind: z.literal('ready'),
    command: z.string(),
    key: z.string(),
    bytes: z.number(),
    isCached: z.boolean(),
    durationMs: z.number(),
  }),
  z.object({
    kind: z.literal('failed'),
    command: z.string(),
    reason: z.string(),
    output: z.string(),
    durationMs: z.number(),
  }),
])
export type RunEnvironment = z.infer<typeof RunEnvironment>
export type SettledEnvironment = Exclude<RunEnvironment, { kind: 'wanted' }>

/** Programs find at this path, and first on the PATH, what a setup made; what it added to the working folder is laid there. */
export const environmentFolder = '/environment'
/** A setup puts the modules of Go here, where programs find them. */
export const goModuleCache = `${environmentFolder}/go/mod`
