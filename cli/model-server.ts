/** Whether `text` can be the address of a model server. */
export function isModelServer(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)
}

/** `rehearsal`, or the address of a model server, or several separated by commas. */
export function isModelServers(text: string): boolean {
  if (text === 'rehearsal') return true
  const servers = serversIn(text)
  return servers.length > 0 && servers.every(isModelServer)
}

function serversIn(text: string): string[] {
  const named = text.split(',').map((entry) => entry.trim())
  return named.filter((entry) => entry !== '')
}

const lookMs = 1_000

/** Those of the model servers in `text` that do not answer within a second. Any answer will do, a refusal too. */
export async function silentServers(text: string, signal: AbortSignal): Promise<string[]> {
  const silent = await Promise.all(
    serversIn(text).map(async (server) => {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(lookMs)])
      const answer = await fetch(`${server.replace(/\/+$/, '')}/models`, { signal: limit }).catch(() => undefined)
      await answer?.body?.cancel()
      return answer === undefined ? [server] : []
    }),
  )
  return silent.flat()
}
