import type { ReadonlySignal } from '@preact/signals'
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Connection } from '#client/connection.ts'
import type { SessionView } from '#schemas/session-schema.ts'

export type PageContext = {
  connection: Connection
  session: SessionView
  /** Is true from a request that nothing answered until one is answered. */
  isAway: ReadonlySignal<boolean>
}

export const PageContext = createContext<PageContext | undefined>(undefined)

/** Returns the connection to the service, and whose token is used. */
export function usePage(): PageContext {
  const context = useContext(PageContext)
  if (context === undefined) throw new Error('usePage is called outside of the page')
  return context
}

/** Is true where the token may change something: a token that only reads sees no button that it may not press. */
export function useMayWrite(): boolean {
  return usePage().session.scopes.includes('runs:write')
}
