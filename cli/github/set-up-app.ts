import { randomBytes } from 'node:crypto'
import { resolve } from 'node:path'
import { appManifest, convertManifest, type NewApp } from '#code-hosts/app-manifest.ts'
import { AppError } from '#domain/error.ts'
import { githubSite } from '#settings/github-settings.ts'
import { fileVariable } from '#settings/secret-files.ts'
import type { CliContext } from '../cli-context.ts'
import { openBrowser } from '../show-page.ts'
import { visible } from '../terminal-text.ts'
import { shellWord } from '../wording.ts'
import { type ManifestForm, manifestPage, oneTimeWord, openCodePage } from './manifest-page.ts'
import { randomUUID } from 'node:crypto'
import { lstat, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Env } from '#platform/env.ts'
import { isOwnFolder, makeFolder } from '#platform/own-file.ts'
import { dataNotWritable, makeDataFolder } from '../stack/data-folder.ts'

export type SetupOptions = {
  org?: string
  name?: string
  url?: string
  webhook: boolean
  folder?: string
  force?: true
  open?: true
  print?: true
  code?: string
  json?: true
}

/** Makes the app in a browser, and keeps its keys. Only the variables go to stdout, so that a shell can take them. */
export async function setUpApp(options: SetupOptions, context: CliContext): Promise<void> {
  const { config, io, cwd } = context
  const { apiUrl } = config.github
  if (options.print === true) return printPage(options, context)
  const keyPlace = { dataDir: config.dataDir, env: config.settings.own, force: options.force === true }
  const named = options.folder === undefined ? undefined : resolve(cwd, options.folder)
  // Before the app is made.
  const formFor = options.code === undefined ? openForm(options, context) : undefined
  const files = await prepareKeyFiles({ ...keyPlace, folder: named })
  const code = formFor === undefined ? options.code : await askForCode(formFor, options, context)
  const app = await convertManifest(apiUrl, code ?? '')
  await writeKey(files.privateKey, app.privateKey)
  if (app.webhookSecret !== undefined) await writeKey(files.webhookSecret, app.webhookSecret)
  const environment = environmentFor(app, files, apiUrl)
  const install = `${app.page.replace(/\/$/, '')}/installations/new`
  if (options.json) {
    const { id, slug, name, page } = app
    io.out(`${JSON.stringify({ app_id: id, slug, name, page, install_url: install, environment })}\n`)
    return
  }
  const lines = Object.entries(environment).map(([variable, value]) => `export ${variable}=${shellWord(value)}\n`)
  io.out(lines.join(''))
  io.err(visible(nextSteps(app, install)))
}

/** Returns the form for a page that sends the browser back to `redirectUrl`. CONFIG_003 where GitHub would not know where to send webhooks. */
function openForm(options: SetupOptions, { config }: CliContext): (redirectUrl: string) => ManifestForm {
  const site = githubSite(config.github.apiUrl)
  const { org, name = `remora-${randomBytes(3).toString('hex')}`, webhook } = options
  const address = options.url ?? config.publicUrl?.replace(/\/+$/, '')
  if (webhook && address === undefined) {
    const choices =
      '--url https://… (or api.public_url), or --no-webhook; docs/guide/github.md has both, also behind a firewall'
    throw new AppError('CONFIG_003', `say where GitHub reaches the API: ${choices}`, { phase: 'usage' })
  }
  const webhookUrl = webhook ? `${address}/webhooks/github` : undefined
  const newAppUrl = org === undefined ? `${site}/settings/apps/new` : `${site}/organizations/${org}/settings/apps/new`
  return (redirectUrl) => ({
    newAppUrl,
    manifest: appManifest({ name, homepage: address ?? site, webhookUrl, redirectUrl }),
  })
}

/** Nothing answers there: the code is to be read from the address that the browser then shows. */
const nowhere = 'http://127.0.0.1:1/made'

function printPage(options: SetupOptions, context: CliContext): void {
  const form = openForm(options, context)(nowhere)
  if (options.json) return context.io.out(`${JSON.stringify(form.manifest)}\n`)
  context.io.out(manifestPage(form, oneTimeWord()))
  context.io.err(
    'Open this page in a browser. GitHub then sends it to an address that does not answer, with code=…: within an hour, give that to "remora github setup --code".\n',
  )
}

async function askForCode(
  formFor: (redirectUrl: string) => ManifestForm,
  { open }: SetupOptions,
  context: CliContext,
): Promise<string> {
  const { io, signal } = context
  const page = await openCodePage(formFor, signal)
  try {
    io.err(`Open ${page.address} in a browser of this machine, and make the app there. Waiting for it …\n`)
    if (open === true && !(await openBrowser(page.address, context))) io.err('No browser could be opened.\n')
    return await page.code()
  } finally {
    await page.close()
  }
}

function environmentFor(app: NewApp, files: KeyFiles, apiUrl: string): Record<string, string> {
  return {
    REMORA_GITHUB_APP_ID: String(app.id),
    [fileVariable('REMORA_GITHUB_PRIVATE_KEY')]: files.privateKey,
    ...(app.webhookSecret === undefined ? {} : { [fileVariable('REMORA_GITHUB_WEBHOOK_SECRET')]: files.webhookSecret }),
    REMORA_GITHUB_API_URL: apiUrl,
  }
}

function nextSteps({ name, webhookSecret }: NewApp, install: string): string {
  const steps = [
    'Set the variables above where the services run.',
    `Install the app on your repositories: ${install}`,
    'See that all is as it should be: remora doctor',
    'Start the service: remora up (docs/guide/github.md, docs/guide/deploy.md for containers)',
  ]
  const none = 'GitHub has made no webhook secret: without one the service takes no webhooks.\n'
  const numbered = steps.map((step, index) => `${index + 1}. ${step}\n`).join('')
  return `The app ${name} is made.\n${webhookSecret === undefined ? none : ''}${numbered}`
}

type KeyFiles = { privateKey: string; webhookSecret: string }

type KeyPlace = {
  /** Undefined: `github` in the data folder, which is closed to others and hidden from git. */
  folder: string | undefined
  dataDir: string
  force: boolean
  env: Env
}

/** Prepares the place before the app is made, since GitHub tells keys once. CONFIG_003 where others may write, or keys are there (`force`). */
async function prepareKeyFiles({ folder, dataDir, force, env }: KeyPlace): Promise<KeyFiles> {
  if (folder === undefined) await makeDataFolder(dataDir, env)
  const path = folder ?? join(dataDir, 'github')
  await makeFolder(path, 0o700).catch((error: unknown) => {
    throw dataNotWritable(path, error)
  })
  if (!(await isOwnFolder(path))) {
    throw new AppError('CONFIG_003', `${path} is not yours alone: "chmod 700 ${path}", or name another with --folder`)
  }
  // Also where it is inside of a repository.
  if ((await readdir(path)).length === 0) await writeFile(join(path, '.gitignore'), '*\n')
  const files = { privateKey: join(path, 'private-key.pem'), webhookSecret: join(path, 'webhook-secret') }
  for (const file of Object.values(files)) {
    if (force || (await lstat(file).catch(() => undefined)) === undefined) continue
    throw new AppError(
      'CONFIG_003',
      `there is a key in ${file} already: --force replaces it, --folder names another place`,
    )
  }
  return files
}

/** Readable for this user alone. A file is replaced whole, or not at all. */
async function writeKey(path: string, text: string): Promise<void> {
  const temporary = `${path}.${randomUUID()}`
  try {
    await writeFile(temporary, text.endsWith('\n') ? text : `${text}\n`, { mode: 0o600, flag: 'wx' })
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    throw dataNotWritable(path, error)
  }
}
