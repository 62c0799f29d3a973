import type { ComponentChildren } from 'preact'
import { linkTo, type Route } from '../core/route.ts'
import { lazyPage } from './parts/lazy-page.tsx'
import { usePage } from './page-context.ts'
import { RunsPage } from './runs/runs-page.tsx'

const SubmitPage = lazyPage(async () => (await import('./runs/submit-page.tsx')).SubmitPage)
const RunPage = lazyPage(async () => (await import('./run/run-page.tsx')).RunPage)
const OperationPage = lazyPage(async () => (await import('./operation/operation-page.tsx')).OperationPage)
const InboxPage = lazyPage(async () => (await import('./inbox/inbox-page.tsx')).InboxPage)
const AgentsPage = lazyPage(async () => (await import('./service/agents-page.tsx')).AgentsPage)
const FleetPage = lazyPage(async () => (await import('./service/fleet-page.tsx')).FleetPage)
const UsagePage = lazyPage(async () => (await import('./service/usage-page.tsx')).UsagePage)

const places = [
  { page: 'runs', name: 'Runs' },
  { page: 'inbox', name: 'Inbox' },
  { page: 'agents', name: 'Agents' },
  { page: 'fleet', name: 'Fleet' },
  { page: 'usage', name: 'Usage' },
] as const

export function Page({ route, onSignOut }: { route: Route; onSignOut: () => void }) {
  const { session } = usePage()
  return (
    <>
      <header class="top">
        <a class="brand" href={linkTo({ page: 'runs' })}>
          Remora
        </a>
        <nav aria-label="Places">
          {places.map(({ page, name }) => (
            <a key={page} href={linkTo({ page })} aria-current={route.page === page ? 'page' : undefined}>
              {name}
            </a>
          ))}
        </nav>
        <span class="who" title={session.token_id}>
          {session.project_id}
        </span>
        <button onClick={onSignOut}>Sign out</button>
      </header>
      <main id="content" tabIndex={-1}>
        {pageOf(route)}
      </main>
    </>
  )
}

function pageOf(route: Route): ComponentChildren {
  switch (route.page) {
    case 'runs':
      return <RunsPage />
    case 'submit':
      return <SubmitPage />
    case 'run':
      return <RunPage key={route.runId} runId={route.runId} tab={route.tab} />
    case 'operation':
      return <OperationPage key={route.operationId} runId={route.runId} operationId={route.operationId} />
    case 'inbox':
      return <InboxPage />
    case 'agents':
      return <AgentsPage />
    case 'fleet':
      return <FleetPage />
    case 'usage':
      return <UsagePage />
    case 'unknown':
      return <UnknownPage path={route.path} />
  }
}

function UnknownPage({ path }: { path: string }) {
  return (
    <div class="problem" role="alert">
      <p>There is no page “{path}”.</p>
      <a href={linkTo({ page: 'runs' })}>All runs</a>
    </div>
  )
}
