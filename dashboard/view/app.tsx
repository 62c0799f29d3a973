import { signal } from '@preact/signals'
import { openPageConnection } from '../core/connection.ts'
import { readRoute } from '../core/route.ts'
import { openSession, tokenIn } from '../core/session.ts'
import { Page } from './page.tsx'
import { PageContext } from './page-context.ts'
import { SignIn } from './sign-in.tsx'
import { ProblemBox } from './parts/problem-box.tsx'

const connection = openPageConnection(new URL('.', location.href.replace(/#.*/, '')).href)
const session = openSession(connection)
const route = signal(readRoute(location.hash))

const { token, rest } = tokenIn(location.hash)
if (token !== undefined) history.replaceState(null, '', rest === '#' ? '#/runs' : rest)
route.value = readRoute(location.hash)
addEventListener('hashchange', () => (route.value = readRoute(location.hash)))
void session.begin(token)

export function App() {
  const state = session.state.value
  if (state.kind === 'opening') return <p class="quiet">…</p>
  if (state.kind === 'away') return <ProblemBox error={state.error} onRetry={() => void session.begin()} />
  if (state.kind === 'closed') return <SignIn why={state.why} onToken={(given) => void session.begin(given)} />
  return (
    <PageContext value={{ connection, session: state.session }}>
      <Page route={route.value} onSignOut={() => void session.end()} />
    </PageContext>
  )
}
