import type { Env } from '#platform/env.ts'
import { parseBehaviour } from '../../services/rehearsal/rehearsal-config.ts'
import { startRehearsal, type Rehearsal } from '../../services/rehearsal/rehearsal-server.ts'

/** The rehearsal model in this process, on a free port, behaving as `env` says. */
export function startRehearsalModel(env: Env): Promise<Rehearsal> {
  return startRehearsal({ ...parseBehaviour(env), host: '127.0.0.1', port: 0 })
}
