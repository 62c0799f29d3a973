import { createPrivateKey } from 'node:crypto'
import { z } from 'zod'
import { AppError } from '#domain/error.ts'
import { withoutLogin } from '#platform/hide-secrets.ts'
import { fileVariable } from '#settings/secret-files.ts'
import type { CliConfig } from '../cli-config.ts'
import { fine, type Diagnosis, doubtful, missing } from './diagnosis.ts'

type GitHubConfig = CliConfig['github']
type Credentials = { appId: string; privateKey: string; apiUrl: string }

const leastSecret = 16
const lookMs = 10_000
const shownDeliveries = 20
/** GitHub takes a JWT that begins up to a minute from now. */
const mostSkewMs = 60_000
const setup = '"remora github setup" makes an app that has it'
const lacks = (found: string, advice: string) => missing('github', found, advice)
const doubts = (found: string, advice: string) => doubtful('github', found, advice)

/** Examines the GitHub App, as far as it is named here; returns nothing where there is none. Each part runs with the keys that it has. */
export async function examineGithub({ github, publisherUrl }: CliConfig, signal: AbortSignal): Promise<Diagnosis[]> {
  const { appId, privateKey, webhookSecret, apiUrl } = github
  if (appId === undefined && privateKey === undefined && webhookSecret === undefined) return []
  const publisher = publisherUrl === undefined ? [] : [await examinePublisher(publisherUrl, signal)]
  const local = [examineSecret(github), ...publisher]
  if (appId === undefined && privateKey === undefined) return local
  if (appId === undefined || privateKey === undefined) {
    const unset = appId === undefined ? 'REMORA_GITHUB_APP_ID' : fileVariable('REMORA_GITHUB_PRIVATE_KEY')
    return [
      lacks(`${unset} is not set: nothing is published`, 'set both, as "remora github setup" prints them'),
      ...local,
    ]
  }
  if (!isPrivateKey(privateKey)) {
    const advice = 'name the file that "remora github setup" wrote, or make a new key on the page of the app'
    return [lacks('REMORA_GITHUB_PRIVATE_KEY is no private key (PEM)', advice), ...local]
  }
  return [...(await examineApp({ appId, privateKey, apiUrl }, signal)), ...local]
}

function isPrivateKey(text: string): boolean {
  try {
    return createPrivateKey(text.replaceAll('\\n', '\n')).asymmetricKeyType === 'rsa'
  } catch {
    return false
  }
}

function examineSecret({ webhookSecret }: GitHubConfig): Diagnosis {
  if (webhookSecret !== undefined) return fine('github', `a webhook secret of at least ${leastSecret} characters`)
  const variable = fileVariable('REMORA_GITHUB_WEBHOOK_SECRET')
  const absence = `${variable} is not set here: an api without it takes no webhooks`
  return doubts(absence, 'the api alone needs it')
}

async function examinePublisher(url: string, signal: AbortSignal): Promise<Diagnosis> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(lookMs)])
  const answer = await fetch(url, { signal: limit }).catch(() => undefined)
  // It answers 401 to whoever does not know its secret.
  if (answer !== undefined) return fine('github', `the publisher answers at ${withoutLogin(url)}`)
  return lacks(`the publisher does not answer at ${withoutLogin(url)}`, 'start it, or check REMORA_PUBLISHER_URL')
}

const App = z.looseObject({
  id: z.int(),
  name: z.string(),
  permissions: z.record(z.string(), z.unknown()),
  events: z.array(z.string()),
})
const WithDate = z.looseObject({ headers: z.looseObject({ date: z.string().optional() }).default({}) })

async function examineApp({ appId, privateKey, apiUrl }: Credentials, signal: AbortSignal): Promise<Diagnosis[]> {
  // It takes a while to load.
  const [{ openGitHubApp, orHostError }, { lacksOfApp }] = await Promise.all([
    import('#code-hosts/github-client.ts'),
    import('#code-hosts/app-manifest.ts'),
  ])
  const { app } = openGitHubApp({ appId, privateKey, apiUrl, log: { debug() {}, warn() {} } })
  const request = { signal: AbortSignal.any([signal, AbortSignal.timeout(lookMs)]) }
  try {
    const answer = await orHostError(app.request('GET /app', { request }))
    const own = App.parse(answer.data)
    const lacking = lacksOfApp(own)
    const name = `${own.name} (${own.id}) at ${apiUrl}`
    const judged =
      lacking.length === 0
        ? fine('github', `the app ${name} has the permissions and events that it needs`)
        : lacks(
            `the app ${name} lacks ${lacking.join(', ')}`,
            'add it on the page of the app, and accept it where it is installed',
          )
    const [hook, sent] = await Promise.all([
      orHostError(app.request('GET /app/hook/config', { request })),
      orHostError(app.request('GET /app/hook/deliveries', { per_page: shownDeliveries, request })),
    ])
    return [judged, ...examineClock(answer), examineHook(hook.data), examineDeliveries(sent.data)]
  } catch (error) {
    signal.throwIfAborted()
    return [
      explained(error, { appId, apiUrl }),
      ...examineClock(error instanceof AppError ? answerOf(error.cause) : undefined),
    ]
  }
}

function answerOf(cause: unknown): unknown {
  return z.looseObject({ response: z.unknown() }).safeParse(cause).data?.response
}

function explained(error: unknown, { appId, apiUrl }: Pick<Credentials, 'appId' | 'apiUrl'>): Diagnosis {
  if (!(error instanceof AppError))
    return lacks(`${apiUrl} does not answer as GitHub does`, 'check REMORA_GITHUB_API_URL')
  const fault = `${error.code} ${error.message}`
  if (error.code === 'HOST_003' || error.code === 'HOST_002')
    return lacks(
      `${fault}: GitHub does not know app ${appId} by this key`,
      `check REMORA_GITHUB_APP_ID and its key; ${setup}`,
    )
  return lacks(fault, 'check REMORA_GITHUB_API_URL, and what is between here and GitHub')
}

/** GitHub refuses every JWT of a clock that is wrong. */
function examineClock(answer: unknown): Diagnosis[] {
  const date = WithDate.safeParse(answer).data?.headers.date
  const ahead = date === undefined ? 0 : Date.now() - Date.parse(date)
  if (!(Math.abs(ahead) > mostSkewMs)) return []
  const seconds = Math.round(Math.abs(ahead) / 1_000)
  const skew = `the clock of this machine is ${seconds} s ${ahead > 0 ? 'ahead of' : 'behind'} GitHub's`
  return [doubts(skew, 'set it (by NTP): GitHub refuses what is signed with the key of an app by another time')]
}

type HookConfig = { url?: string; content_type?: string; insecure_ssl?: string | number; secret?: string }

function examineHook({ url = '', content_type: type, insecure_ssl: insecure, secret }: HookConfig): Diagnosis {
  const faults = [
    ...(url.endsWith('/webhooks/github') ? [] : ['its address does not end with /webhooks/github']),
    ...(url.startsWith('https:') ? [] : ['its address is not https']),
    ...(type === 'json' ? [] : ['its content type is not application/json']),
    ...(String(insecure ?? '0') === '0' ? [] : ['it does not check certificates']),
    ...(secret === undefined || secret === '' ? ['it has no secret'] : []),
  ]
  if (faults.length === 0) return fine('github', `webhooks go to ${url}`)
  return doubts(`webhooks go to ${url || 'no address'}: ${faults.join(', ')}`, 'change it on the page of the app')
}

type Delivery = { event: string; status: string; status_code: number; delivered_at: string }

/** Says whether the newest webhooks arrived. The publisher fetches those that did not, later. */
function examineDeliveries(sent: readonly Delivery[]): Diagnosis {
  const failed = sent.filter(({ status_code: code }) => code < 200 || code >= 400)
  if (sent.length === 0) {
    const advice =
      'push to a repository where it is installed; where its webhook is not active, GitHub sends and keeps none'
    return doubts('GitHub has sent no webhook within three days', advice)
  }
  const [newest] = failed
  if (newest === undefined) return fine('github', `the last ${sent.length} webhooks have arrived`)
  const { event, status_code: code, status, delivered_at: at } = newest
  const failure = `${failed.length} of the last ${sent.length} webhooks did not arrive, such as ${event} at ${at}: ${code} (${status})`
  return doubts(failure, 'check the address and the secret; the publisher fetches them meanwhile (github.poll_s)')
}
