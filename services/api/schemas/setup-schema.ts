import { z } from 'zod'
import { ShellCommand } from '#domain/setup.ts'

export const SetupShape = ShellCommand.meta({
  description:
    'installs what the programs of the repository need, such as `pip install -e .[test]` or `npm ci`: for a shell, in the top folder of the repository. It runs once the run is planned, and reaches the package registries alone. INTAKE_008 where the operator has not allowed setups',
})

/** Shows what a run's setup has made. */
export const EnvironmentView = z
  .strictObject({
    status: z.enum(['wanted', 'ready', 'failed']).meta({
      id: 'EnvironmentStatus',
      description:
        'wanted: the setup has not ended. failed: programs of the run are not started, and operations that need one are blocked (SETUP_001)',
    }),
    command: z.string(),
    cached: z.boolean().optional().meta({ description: 'an earlier run of the same manifests and lock files made it' }),
    bytes: z.number().optional().meta({ description: 'of the stored result' }),
    duration_ms: z.number().optional(),
    reason: z.string().optional(),
    output: z.string().optional().meta({ description: 'the end of what a setup wrote that failed' }),
  })
  .meta({
    id: 'Environment',
    description: "what the run's setup made; null for a run without one, and before it is planned",
  })
export type EnvironmentView = z.infer<typeof EnvironmentView>
