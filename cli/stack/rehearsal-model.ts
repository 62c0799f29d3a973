import { givenValue, type Env } from '#platform/env.ts'
import { behaviourEnv, parseBehaviour } from '../../services/rehearsal/config.ts'
import { startRehearsal, type Rehearsal } from '../../services/rehearsal/rehearsal-server.ts'

/** The rehearsal model in this process, on a free port, behaving as `env` says. */
export function startRehearsalModel(env: Env): Promise<Rehearsal> {
  return startRehearsal({ ...parseBehaviour(env), host: '127.0.0.1', port: 0 })
}

/** Whether `env` says how a rehearsal model is to behave. */
export function isRehearsalTold(env: Env): boolean {
  return Object.keys(behaviourEnv).some((name) => givenValue(env, name) !== undefined)
}
