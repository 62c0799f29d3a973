import { type Connection, openConnection } from '#client/connection.ts'

/** Another site cannot send this header, so the cookie changes something only for the page. It names the token that the page shows: of two in one browser the later one has the cookie. */
const pageHeader = 'x-remora-page'

type Heard = {
  /** Names the token that is used, once that is known. */
  tokenId: () => string | undefined
  /** An answer said that the token counts no more. */
  onRefused: () => void
  /** Nothing answered a request, or something does again. */
  onAway: (isAway: boolean) => void
}

/** Opens the connection to the service that the page comes from. The session's cookie is sent by the browser. */
export function openPageConnection(base: string, { tokenId, onRefused, onAway }: Heard): Connection {
  let isAway = false
  const heard = (away: boolean) => {
    if (away !== isAway) onAway((isAway = away))
  }
  return openConnection({
    url: base.replace(/\/$/, ''),
    fetch: async (url, init) => {
      const headers = new Headers(init.headers)
      const id = tokenId()
      if (id !== undefined) headers.set(pageHeader, id)
      const answer = await fetch(url, { ...init, headers, credentials: 'same-origin' }).catch((error: unknown) => {
        if (init.signal?.aborted !== true) heard(true)
        throw error
      })
      // A proxy says so of a service that is not there.
      heard(answer.status === 502 || answer.status === 504)
      if (answer.status === 401) onRefused()
      return answer
    },
  })
}
