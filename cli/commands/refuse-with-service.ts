import type { Command } from 'commander'
import { givenValue } from '#platform/env.ts'
import type { CliContext } from '../cli-context.ts'

const ofOwnStack = ['model', 'workers'] as const

/**
 * With REMORA_API_URL no stack is started: wrong usage for options that are about one, and a warning on stderr for
 * model servers in the environment, which another command may need.
 */
export function refuseWithService(command: Command, { config, io }: Pick<CliContext, 'config' | 'io'>): void {
  if (config.apiUrl === undefined) return
  const given = ofOwnStack.find((name) => command.getOptionValueSource(name) === 'cli')
  if (given !== undefined) {
    const reason = `REMORA_API_URL names a running service, ${config.apiUrl}, which has its own`
    command.error(`error: --${given} cannot be used here: ${reason}`, { exitCode: 2 })
  }
  if (givenValue(config.settings.own, 'REMORA_MODEL_URLS') === undefined) return
  io.err(`REMORA_MODEL_URLS has no effect: the service at ${config.apiUrl} has its own models\n`)
}
