import type { Command } from 'commander'
import type { CliContext } from '../cli-context.ts'
import { addGithubSetup } from './github-setup-command.ts'

/** `remora github setup`: the service's GitHub App. */
export function addGithubCommand(program: Command, context: CliContext): void {
  const github = program.command('github').description("the service's GitHub App: make it")
  addGithubSetup(github, context)
}
