import { z } from '@hono/zod-openapi'
import { type RunEnvironment, ShellCommand } from '#domain/setup.ts'
import { named } from '../http/schema-parts.ts'

export const SetupShape = ShellCommand.meta({
  description:
    'installs what the programs of the repository need, such as `pip install -e .[test]` or `npm ci`: for a shell, in the top folder of the repository. It runs once the run is planned, and reaches the package registries alone. INTAKE_008 where the operator has not allowed setups',
})

/** What a run's setup has made. */
export const EnvironmentView = z
  .strictObject({
    status: named('EnvironmentStatus', z.enum(['wanted', 'ready', 'failed']), {
      description:
        'wanted: the setup has not ended. failed: programs of the run are not started, and operations that need one are blocked (SETUP_001)',
    }),
    command: z.string(),
    cached: z
      .boolean()
      .optional()
      .openapi({ description: 'an earlier run of the same manifests and lock files made it' }),
    bytes: z.number().optional().openapi({ description: 'of the stored result' }),
    duration_ms: z.number().optional(),
    reason: z.string().optional(),
    output: z.string().optional().openapi({ description: 'the end of what a setup wrote that failed' }),
  })
  .openapi('Environment', {
    description: "what the run's setup made; null for a run without one, and before it is planned",
  })
export type EnvironmentView = z.infer<typeof EnvironmentView>

export function environmentView(environment: RunEnvironment | null): EnvironmentView | null {
  if (environment === null) return null
  const { command } = environment
  switch (environment.kind) {
    case 'wanted':
      return { status: 'wanted', command }
    case 'ready': {
      const { isCached: cached, bytes, durationMs: duration_ms } = environment
      return { status: 'ready', command, cached, bytes, duration_ms }
    }
    case 'failed': {
      const { reason, output, durationMs: duration_ms } = environment
      return { status: 'failed', command, reason, output, duration_ms }
    }
  }
}
