import type { ModelKind } from '#domain/model-kind.ts'
import { faultOfServerUrl } from '#platform/model-server-url.ts'

/** Of what `--model` or REMORA_MODEL_URLS says; neither is the rehearsal model. */
export function kindOfModel(text: string | undefined): ModelKind {
  return text === undefined || text === 'rehearsal' ? 'rehearsal' : 'servers'
}

/** Whether `text` can be the address of a server. */
export function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)
}

/** `rehearsal`, or the address of a model server, or several separated by commas. */
export function isModelServers(text: string): boolean {
  if (text === 'rehearsal') return true
  const servers = serversIn(text)
  return servers.length > 0 && servers.every((server) => faultOfServerUrl(server) === undefined)
}

/** What to say where `isModelServers` says no. */
export function faultOfServers(text: string): string | undefined {
  return serversIn(text)
    .map(faultOfServerUrl)
    .find((fault) => fault !== undefined)
}

/** The addresses in `text`; none for `rehearsal`. */
export function serversIn(text: string): string[] {
  const named = text.split(',').map((entry) => entry.trim())
  return named.filter((entry) => entry !== '' && entry !== 'rehearsal')
}

const lookMs = 1_000

/** What a model server answers to a look at its models within a second, body unread; undefined for nothing. */
export async function askServer(
  server: string,
  { signal, apiKey }: { signal: AbortSignal; apiKey?: string | undefined },
): Promise<Response | undefined> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(lookMs)])
  const headers = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }
  return fetch(`${server.replace(/\/+$/, '')}/models`, { signal: limit, headers }).catch(() => undefined)
}

/** Those of the model servers in `text` that do not answer within a second. Any answer will do, a refusal too. */
export async function silentServers(text: string, signal: AbortSignal): Promise<string[]> {
  const silent = await Promise.all(
    serversIn(text).map(async (server) => {
      const answer = await askServer(server, { signal })
      await answer?.body?.cancel()
      return answer === undefined ? [server] : []
    }),
  )
  return silent.flat()
}
