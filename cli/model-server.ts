import type { ModelKind } from '#domain/model-kind.ts'
import { withoutLogin } from '#platform/hide-secrets.ts'
import { faultOfServerUrl, modelServerUrl } from '#platform/server-urls.ts'

/** Returns the kind of model that `--model` or REMORA_MODEL_URLS names; without either the rehearsal model. */
export function kindOfModel(text: string | undefined): ModelKind {
  return text === undefined || text === 'rehearsal' ? 'rehearsal' : 'servers'
}

/** `rehearsal`, or the address of a model server, or several separated by commas. */
export function isModelServers(text: string): boolean {
  if (text === 'rehearsal') return true
  const servers = serversIn(text)
  return servers.length > 0 && servers.every((server) => faultOfServerUrl(server) === undefined)
}

export function faultOfServers(text: string): string | undefined {
  return serversIn(text)
    .map(faultOfServerUrl)
    .find((fault) => fault !== undefined)
}

/** Returns the addresses in `text`; none for `rehearsal`. */
export function serversIn(text: string): string[] {
  const named = text.split(',').map((entry) => entry.trim())
  return named.filter((entry) => entry !== '' && entry !== 'rehearsal')
}

const answerMs = 1_000

/** Returns a model server's answer to a request for its models, body unread; undefined without one within a second. */
export async function askServer(
  server: string,
  { signal, apiKey }: { signal: AbortSignal; apiKey?: string | undefined },
): Promise<Response | undefined> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(answerMs)])
  const headers = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }
  return fetch(`${modelServerUrl(server)}/models`, { signal: limit, headers }).catch(() => undefined)
}

/** Returns those of the model servers in `text` that do not answer within a second. Any answer counts, also a refusal. */
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

/** Returns a line for each model server in `text` that does not answer; `whenNone` makes it when no other does either. */
export async function describeSilent(
  text: string,
  { whenNone, signal }: { whenNone: (server: string) => string; signal: AbortSignal },
): Promise<string> {
  const silent = await silentServers(text, signal)
  const others = silent.length < serversIn(text).length
  const line = (server: string) =>
    others ? `CONFIG_005 no model server answers at ${server}: others do its work` : whenNone(server)
  return silent.map((server) => `${line(withoutLogin(server))}\n`).join('')
}
