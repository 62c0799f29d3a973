import { signal } from '@preact/signals'
import { type Connection, RemoraProblem } from '#client/connection.ts'
import type { SessionView } from '#schemas/session-schema.ts'
import { decoded } from './route.ts'

/** `unknown`: nothing was asked yet. `opening`: it is asked whether the token, or the cookie of an earlier visit, counts. */
export type SessionState =
  | { kind: 'unknown' }
  | { kind: 'opening' }
  | { kind: 'open'; session: SessionView }
  | { kind: 'closed'; why: 'none' | 'refused' | 'signed_out' }
  | { kind: 'away'; error: unknown }

const path = '/v1/session'

/** Knows who looks at the page. A token comes once, in the fragment of the link or by hand, and is kept by the browser as a cookie that no script reads. */
export function openSession(connection: Connection) {
  const state = signal<SessionState>({ kind: 'unknown' })
  const begin = async (token?: string, without: 'none' | 'refused' = 'none') => {
    state.value = { kind: 'opening' }
    try {
      const given =
        token === undefined ? {} : { method: 'POST' as const, headers: { authorization: `Bearer ${token}` } }
      state.value = { kind: 'open', session: await connection.json<SessionView>(path, given) }
    } catch (error) {
      const isRefused = error instanceof RemoraProblem && error.code === 'AUTH_001'
      state.value = isRefused
        ? { kind: 'closed', why: token === undefined ? without : 'refused' }
        : { kind: 'away', error }
    }
  }
  return {
    state,
    begin,
    /** Reads anew whose token it is, and the version of the service; what fails shows itself elsewhere. */
    async readAgain() {
      const session = await connection.json<SessionView>(path).catch(() => undefined)
      if (session !== undefined && state.value.kind === 'open') state.value = { kind: 'open', session }
    },
    /** Forgets the token. */
    async end() {
      try {
        await connection.send(path, { method: 'DELETE' })
        state.value = { kind: 'closed', why: 'signed_out' }
      } catch (error) {
        state.value = { kind: 'away', error } // the cookie is still there
      }
    },
    /** A request was refused since the token counts no more, or another one is used in this browser by now. */
    lost() {
      if (state.value.kind === 'open') void begin(undefined, 'refused')
    },
  }
}

/** Takes the token out of a fragment, `#token=…`; the rest is where the page begins. */
export function tokenIn(fragment: string): { token: string | undefined; rest: string } {
  const given = /^#?(?:(.*)&)?token=([^&]+)$/.exec(fragment)
  return given === null
    ? { token: undefined, rest: fragment }
    : { token: decoded(given[2] ?? ''), rest: `#${given[1] ?? ''}` }
}
