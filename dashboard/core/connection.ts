import { type Connection, openConnection } from '#client/connection.ts'

/** Every request has this header: another site cannot send it, so the cookie counts only for requests of the page. */
const pageHeader = 'x-remora-page'

/** Opens the connection to the service that the page comes from. The session's cookie is sent by the browser. */
export function openPageConnection(base: string): Connection {
  return openConnection({
    url: base.replace(/\/$/, ''),
    fetch: (url, init) => {
      const headers = new Headers(init.headers)
      headers.set(pageHeader, '1')
      return fetch(url, { ...init, headers, credentials: 'same-origin' })
    },
  })
}
