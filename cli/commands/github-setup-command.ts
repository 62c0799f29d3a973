import { type Command, InvalidArgumentError } from 'commander'
import type { CliContext } from '../cli-context.ts'
import type { SetupOptions } from '../github/set-up-app.ts'

/** `remora github setup`: makes the GitHub App, and keeps its keys in files. */
export function addGithubSetup(github: Command, context: CliContext): void {
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
