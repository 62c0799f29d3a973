import { signal } from '@preact/signals'
import { openPageConnection } from '../core/page-connection.ts'
import { readRoute } from '../core/route.ts'
import { openSession, tokenIn } from '../core/session.ts'
import { Page } from './page.tsx'
import { PageContext } from './page-context.ts'
import { SignIn } from './sign-in.tsx'
import { ProblemBox } from './parts/shown.tsx'

const isAway = signal(false)
const connection = openPageConnection(new URL('.', location.href.replace(/#.*/, '')).href, {
  tokenId: () => (session.state.value.kind === 'open' ? session.state.value.session.token_id : undefined),
  onRefused: () => session.lost(),
  onAway(away) {
    isAway.value = away
    if (!away) void session.readAgain() // it may be another version by now
  },
})
const session = openSession(connection)
const route = signal(readRoute(location.hash))

function follow(): void {
  const { token, rest } = tokenIn(location.hash)
  if (token !== undefined) {
    history.replaceState(null, '', rest === '#' ? '#/runs' : rest)
    void session.begin(token)
  }
  route.value = readRoute(location.hash)
}

addEventListener('hashchange', follow)
follow()
if (session.state.value.kind === 'unknown') void session.begin()

export function App() {
  const state = session.state.value
  switch (state.kind) {
    case 'unknown':
    case 'opening':
      return <p class="quiet">…</p>
    case 'away':
      return (
        <main>
          <h1>Remora</h1>
          <ProblemBox error={state.error} onRetry={() => void session.begin()} />
        </main>
      )
    case 'closed':
      return <SignIn why={state.why} onToken={(given) => void session.begin(given)} />
    case 'open':
      return (
        <PageContext value={{ connection, session: state.session, isAway }}>
          <Page route={route.value} onSignOut={() => void session.end()} />
        </PageContext>
      )
  }
}
