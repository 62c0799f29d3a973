import { type Connection, openConnection } from '#client/connection.ts'

/** Every request has this header: another site cannot send it, so the cookie counts only for requests of the page. */
const pageHeader = 'x-remora-page'

type Heard = {
  /** An answer said that the token counts no more. */
  onRefused: () => void
  /** Nothing answered a request, or something does again. */
  onAway: (isAway: boolean) => void
}

/** Opens the connection to the service that the page comes from. The session's cookie is sent by the browser. */
export function openPageConnection(base: string, { onRefused, onAway }: Heard): Connection {
  let isAway = false
  const heard = (away: boolean) => {
    if (away !== isAway) onAway((isAway = away))
  }
  return openConnection({
    url: base.replace(/\/$/, ''),
    fetch: async (url, init) => {
      const headers = new Headers(init.headers)
      headers.set(pageHeader, '1')
      const answer = await fetch(url, { ...init, headers, credentials: 'same-origin' }).catch((error: unknown) => {
        if (init.signal?.aborted !== true) heard(true)
        throw error
      })
      heard(false)
      if (answer.status === 401) onRefused()
      return answer
    },
  })
}
