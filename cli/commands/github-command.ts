import { type Command, InvalidArgumentError } from 'commander'
import type { DeliveryView, InstallationView } from '#schemas/github-schema.ts'
import type { CliContext } from '../cli-context.ts'
import { textTable, visible } from '../terminal-text.ts'
import { withRuns } from '../run/reach-service.ts'
import { figure } from '#domain/figure.ts'
import { shortTime } from '../wording.ts'
import { positiveUpTo } from './shared-options.ts'
import type { SetupOptions } from '../github/set-up-app.ts'

export function addGithubCommand(github: Command, context: CliContext): void {
  addGithubSetup(github, context)
  addInstallations(github, context)
  addDeliveries(github, context)
}

function addInstallations(github: Command, context: CliContext): void {
  const command = github
    .command('installations')
    .description('list where the App is installed, of your project (the operator: of all), or give one to a project')
    .option('--assign <id project...>', 'give this installation to this project (only the operator)', twoWords)
    .option('--json', 'print one JSON document')
    .action(async ({ assign, json }: { assign?: string[]; json?: true }) => {
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

function twoWords(word: string, before: string[] = []): string[] {
  if (before.length === 2) throw new InvalidArgumentError('It takes an installation and a project.')
  return [...before, word]
}

const noInstallations = 'the App is not installed anywhere that you may see\n'

function installationLines(installations: readonly InstallationView[]): string {
  const rows = installations.map((installation) => [
    String(installation.installation_id),
    installation.account,
    installation.project_id,
    figure(installation.repository_count),
    installation.is_suspended ? 'suspended' : '',
  ])
  return tableText([['installation', 'account', 'project', 'repositories', ''], ...rows])
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
  const rows = deliveries.map((delivery) => [
    delivery.at ? shortTime(delivery.at) : '',
    [delivery.event, ...(delivery.action === null ? [] : [delivery.action])].join(' '),
    delivery.repository ?? '',
    delivery.ref ?? '',
    delivery.outcome,
    [...(delivery.run_id === null ? [] : [delivery.run_id]), delivery.reason].join(': '),
    delivery.delivery_id,
  ])
  return tableText([['time', 'event', 'repository', 'ref', 'outcome', 'what', 'delivery'], ...rows])
}

function tableText(rows: readonly (readonly string[])[]): string {
  return `${textTable(rows, 'texts').join('\n')}\n`
}

function addGithubSetup(github: Command, context: CliContext): void {
  github
    .command('setup')
    .description('make the GitHub App of this service with a browser, and keep its keys in files')
    .option('--org <name>', 'the organisation that owns it; without it your own account', organisation)
    .option('--name <name>', 'its name; GitHub asks for it again, since no two apps may have the same', appName)
    .option('--url <url>', 'where GitHub reaches the API (default: api.public_url)', publicUrl)
    .option('--no-webhook', 'without webhooks: then no push starts a run, and no repository is known')
    .option('--folder <folder>', 'where to keep the keys (default: github in the data folder)')
    .option('--force', 'replace keys that are there')
    .option('--open', 'open the page in a browser of this machine')
    .option('--print', 'print the page, for a browser elsewhere, or with --json the manifest, and make nothing')
    .option('--code <code>', 'the code of an app that such a page has made', manifestCode)
    .option('--json', 'print one JSON document')
    .action(async (options: SetupOptions) => {
      // GitHub's client takes a while to load.
      const { setUpApp } = await import('../github/set-up-app.ts')
      return setUpApp(options, context)
    })
}

function organisation(text: string): string {
  if (/^[A-Za-z0-9](?:-?[A-Za-z0-9]){0,38}$/.test(text)) return text
  throw new InvalidArgumentError('It must be the name of an organisation, as in its address.')
}

function appName(text: string): string {
  if (text.trim() !== '' && text.length <= 34) return text
  throw new InvalidArgumentError('GitHub takes at most 34 characters.')
}

function manifestCode(text: string): string {
  if (/^\w{10,100}$/.test(text)) return text
  throw new InvalidArgumentError('It must be what follows "code=" in the address, up to the next "&".')
}

function publicUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isPlain = url !== undefined && `${url.username}${url.password}${url.search}${url.hash}` === ''
  if (isPlain && ['https:', 'http:'].includes(url.protocol)) return url.href.replace(/\/+$/, '')
  throw new InvalidArgumentError('It must be an address such as https://remora.example, without a login or a query.')
}
