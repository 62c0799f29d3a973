import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { linkTo, type Route } from '../core/route.ts'
import { lazyPage } from './parts/lazy-page.tsx'
import { PageHead } from './parts/shown.tsx'
import { usePage } from './page-context.ts'
import { RunsPage } from './runs/runs-page.tsx'

const SubmitPage = lazyPage(async () => (await import('./runs/submit-page.tsx')).SubmitPage)
const RunPage = lazyPage(async () => (await import('./run/run-page.tsx')).RunPage)
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

/** Is written into the page when it is built. */
declare const PAGE_VERSION: string

export function Page({ route, onSignOut }: { route: Route; onSignOut: () => void }) {
  const { session } = usePage()
  useNavigation(route)
  return (
    <>
      <a
        class="skip"
        href="#content"
        onClick={(event) => {
          event.preventDefault() // the fragment of the address is the page's place
          document.querySelector<HTMLElement>('#content')?.focus()
        }}
      >
        Skip to the content
      </a>
      <header class="top">
        <a class="brand" href={linkTo({ page: 'runs' })}>
          Remora
        </a>
        <nav aria-label="Places">
          {places.map(({ page, name }) => (
            <a key={page} href={linkTo({ page })} aria-current={placeOf(route) === page ? 'page' : undefined}>
              {name}
            </a>
          ))}
        </nav>
        <span class="who quiet" title={`token ${session.token_name ?? session.token_id}`}>
          {session.project_id}
          {session.scopes.includes('runs:write') ? '' : ' (read only)'}
        </span>
        <button onClick={onSignOut}>Sign out</button>
      </header>
      {session.version !== PAGE_VERSION && (
        <p class="notice" role="status">
          The service was updated: this page is of version {PAGE_VERSION}, the service of {session.version}.
          <button onClick={() => location.reload()}>Reload</button>
        </p>
      )}
      <main id="content" tabIndex={-1}>
        {pageOf(route)}
      </main>
    </>
  )
}

function placeOf({ page }: Route): Route['page'] {
  return page === 'run' || page === 'operation' || page === 'submit' ? 'runs' : page
}

const titles: Readonly<Record<Route['page'], string>> = {
  runs: 'Runs',
  submit: 'New run',
  run: 'Run',
  operation: 'Operation',
  inbox: 'Inbox',
  agents: 'Agents',
  fleet: 'Fleet',
  usage: 'Usage',
  unknown: 'No such page',
}

/** Names the document, and moves the focus to the content of another page, where its heading takes it. The first page leaves it alone. */
function useNavigation(route: Route): void {
  const isFirst = useRef(true)
  const place = linkOf(route)
  useLayoutEffect(() => {
    document.title = `${titles[route.page]} · Remora`
    if (!isFirst.current) document.querySelector<HTMLElement>('#content')?.focus({ preventScroll: true })
    if (!isFirst.current) scrollTo(0, 0)
    isFirst.current = false
  }, [place])
}

/** The tabs of a run are one place. */
function linkOf(route: Route): string {
  if (route.page === 'unknown') return route.path
  return linkTo(route.page === 'run' ? { page: 'run', runId: route.runId, tab: 'overview' } : route)
}

function pageOf(route: Route): ComponentChildren {
  switch (route.page) {
    case 'runs':
      return <RunsPage />
    case 'submit':
      return <SubmitPage />
    case 'run':
    case 'operation':
      return <RunPage key={route.runId} route={route} />
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
    <>
      <PageHead title="There is no such page" />
      <div class="problem" role="alert">
        <p>The page has no place “{path}”.</p>
        <a href={linkTo({ page: 'runs' })}>All runs</a>
      </div>
    </>
  )
}
