import { type Command, InvalidArgumentError } from 'commander'
import type { DeliveryView, InstallationView } from '#schemas/github-schema.ts'
import type { CliContext } from '../cli-context.ts'
import { addGithubSetup } from './github-setup-command.ts'
import { visible } from '../terminal-text.ts'
import { withRuns } from '../run/reach-service.ts'
import { figure, shortTime, tableLines } from '../wording.ts'
import { positiveUpTo } from './shared-options.ts'

/** `remora github setup|installations|deliveries`: makes the service's GitHub App, and what is known of it. */
export function addGithubCommand(program: Command, context: CliContext): void {
  const github = program
    .command('github')
    .description("the service's GitHub App: make it, its installations and webhooks")
  addGithubSetup(github, context)
  addInstallations(github, context)
  addDeliveries(github, context)
}

type AssignOptions = { assign?: string[]; json?: true }

function addInstallations(github: Command, context: CliContext): void {
  const command = github
    .command('installations')
    .description('list where the App is installed, of your project (the operator: of all), or give one to a project')
    .option('--assign <id project...>', 'give this installation to this project (only the operator)', twoWords)
    .option('--json', 'print one JSON document')
    .action(async ({ assign, json }: AssignOptions) => {
      const [id, project] = assign ?? []
      if (assign !== undefined && (id === undefined || project === undefined))
        command.error('error: --assign takes an installation and a project', { exitCode: 2 })
      const page = await withRuns(context, async ({ client }) =>
        id === undefined || project === undefined
          ? client.listInstallations()
          : { installations: [await client.assignInstallation(id, project)] },
      )
      const lines = page.installations.length === 0 ? noInstallations : installationLines(page.installations)
      context.io.out(json ? `${JSON.stringify(page)}\n` : visible(lines))
    })
}

/** Collects what follows the option. */
function twoWords(word: string, before: string[] = []): string[] {
  if (before.length === 2) throw new InvalidArgumentError('It takes an installation and a project.')
  return [...before, word]
}

const noInstallations = 'the App is not installed anywhere that you may see\n'

function installationLines(installations: readonly InstallationView[]): string {
  const rows = installations.map((one) => [
    String(one.installation_id),
    one.account,
    one.project_id,
    figure(one.repository_count),
    one.is_suspended ? 'suspended' : '',
  ])
  return tableLines([['installation', 'account', 'project', 'repositories', ''], ...rows])
}

function addDeliveries(github: Command, context: CliContext): void {
  github
    .command('deliveries')
    .description('list what became of the webhooks of GitHub, the newest first')
    .option('--limit <count>', 'at most this many', positiveUpTo(1_000), 50)
    .option('--all', 'also those that were ignored, each with the reason')
    .option('--json', 'print one JSON document')
    .action(async ({ limit, all, json }: { limit: number; all?: true; json?: true }) => {
      const ignored = all ? 'show' : 'hide'
      const page = await withRuns(context, ({ client }) => client.listDeliveries({ limit, ignored }))
      const lines = page.deliveries.length === 0 ? '' : deliveryLines(page.deliveries)
      const none = 'no webhook was handled yet\n'
      const rest = all ? (lines === '' ? none : '') : 'webhooks that were ignored are listed with --all\n'
      context.io.out(json ? `${JSON.stringify(page)}\n` : visible(`${lines}${rest}`))
    })
}

function deliveryLines(deliveries: readonly DeliveryView[]): string {
  const rows = deliveries.map((one) => [
    one.at ? shortTime(one.at) : '',
    [one.event, ...(one.action === null ? [] : [one.action])].join(' '),
    one.repository ?? '',
    one.ref ?? '',
    one.outcome,
    [...(one.run_id === null ? [] : [one.run_id]), one.reason].join(': '),
    one.delivery_id,
  ])
  return tableLines([['time', 'event', 'repository', 'ref', 'outcome', 'what', 'delivery'], ...rows])
}
