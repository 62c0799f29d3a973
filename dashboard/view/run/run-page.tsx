import type { ComponentChildren } from 'preact'
import { useEffect, useMemo } from 'preact/hooks'
import { plural } from '#domain/timeline/words.ts'
import type { Connection } from '#client/connection.ts'
import type { Run } from '#client/wire.ts'
import { type OperationList, openOperationList } from '../../core/operation-list.ts'
import { linkTo, type Route, type RunTab, runTabs } from '../../core/route.ts'
import { type Link, openRunFeed, watchedConnection } from '../../core/run-feed.ts'
import { repositoryName, runTitle } from '../../core/run-words.ts'
import { lazyPage } from '../parts/lazy-page.tsx'
import { PageHead, ProblemBox, StatusBadge, Tabs } from '../parts/shown.tsx'
import { PageContext, usePage } from '../page-context.ts'
import { OverviewTab } from './overview-tab.tsx'
import { RunActions } from './run-actions.tsx'
import { RunContext, useRun } from './run-context.ts'

const OperationPage = lazyPage(async () => (await import('../operation/operation-page.tsx')).OperationPage)
const TimelineTab = lazyPage(async () => (await import('./timeline-tab.tsx')).TimelineTab)
const TreeTab = lazyPage(async () => (await import('./tree-tab.tsx')).TreeTab)
const OperationsTab = lazyPage(async () => (await import('./operations-tab.tsx')).OperationsTab)
const PlanTab = lazyPage(async () => (await import('./plan-tab.tsx')).PlanTab)
const ReviewTab = lazyPage(async () => (await import('../review/review-tab.tsx')).ReviewTab)
const QuestionsTab = lazyPage(async () => (await import('../inbox/questions-tab.tsx')).QuestionsTab)

type RunRoute = Extract<Route, { page: 'run' | 'operation' }>

/** Shows a run, or one of its operations: both are of one stream, and who comes back from an operation finds the lists as they were. */
export function RunPage({ route }: { route: RunRoute }) {
  const { runId } = route
  const page = usePage()
  const { connection } = page
  const context = useMemo(() => openContext(connection, runId), [connection, runId])
  useEffect(() => context.close, [context])
  const [run, link] = [context.feed.run.value, context.feed.link.value]
  if (link.kind === 'gone') return <GoneRun runId={runId} wasSeen={run !== undefined} />
  if (run === undefined)
    return (
      <>
        <PageHead title={`Run ${runId}`} />
        {link.kind === 'broken' ? <ProblemBox error={link.error} /> : <p class="quiet">…</p>}
      </>
    )
  return (
    <PageContext value={{ ...page, connection: context.connection }}>
      <RunContext value={context}>
        {route.page === 'run' ? <Tab run={run} {...route} /> : <OperationPage key={route.operationId} {...route} />}
      </RunContext>
    </PageContext>
  )
}

type OpenContext = RunContext & { connection: Connection; close: () => void }

function openContext(given: Connection, runId: string): OpenContext {
  const feed = openRunFeed(given, runId)
  const connection = watchedConnection(given, feed)
  let operations: OperationList | undefined
  return {
    runId,
    feed,
    connection,
    operations: () => (operations ??= openOperationList(connection, runId, feed)),
    close() {
      operations?.close()
      feed.close()
    },
  }
}

function Tab({ run, tab, seq }: { run: Run; tab: RunTab; seq?: number | undefined }) {
  return (
    <>
      <RunHead run={run} tab={tab} />
      {tab === 'timeline' ? <TimelineTab key={seq} run={run} seq={seq} /> : tabOf(tab, run)}
    </>
  )
}

function RunHead({ run, tab }: { run: Run; tab: RunTab }) {
  const retries = run.generation - 1
  const retried = `generation ${run.generation}, as it was retried ${retries === 1 ? 'once' : `${retries} times`}`
  const about = [run.run_id, repositoryName(run), retries > 0 && retried]
  const tabs = runTabs.flatMap((name) => {
    if (name === 'plan' && run.request.objective === undefined) return []
    return [{ name, label: labelOf(name, run), href: linkTo({ page: 'run', runId: run.run_id, tab: name }) }]
  })
  return (
    <>
      <div class="stack tight">
        <PageHead title={runTitle(run)}>
          <RunActions run={run} />
        </PageHead>
        <p class="row quiet">
          <StatusBadge status={run.status} />
          <span class="wrap">{about.filter(Boolean).join(' · ')}</span>
          <ConnectionLine />
        </p>
      </div>
      <Tabs label="Parts of the run" tabs={tabs} current={tab} />
    </>
  )
}

function labelOf(name: RunTab, run: Run): ComponentChildren {
  const label = `${name.charAt(0).toUpperCase()}${name.slice(1)}`
  if (name !== 'questions' || run.open_questions === 0) return label
  return (
    <>
      {label}{' '}
      <span class="badge" data-state="warn">
        {run.open_questions}
      </span>
    </>
  )
}

function tabOf(tab: Exclude<RunTab, 'timeline'>, run: Run): ComponentChildren {
  switch (tab) {
    case 'overview':
      return <OverviewTab run={run} />
    case 'tree':
      return <TreeTab run={run} />
    case 'operations':
      return <OperationsTab run={run} />
    case 'plan':
      return <PlanTab run={run} />
    case 'review':
      return <ReviewTab runId={run.run_id} />
    case 'questions':
      return <QuestionsTab runId={run.run_id} />
  }
}

function GoneRun({ runId, wasSeen }: { runId: string; wasSeen: boolean }) {
  return (
    <>
      <PageHead title={`Run ${runId}`} />
      <div class="problem" role="alert">
        <p>
          {wasSeen
            ? 'The run was deleted while you looked at it.'
            : 'There is no such run: it was deleted, or it belongs to another project than your token.'}
        </p>
        <a href={linkTo({ page: 'runs' })}>All runs</a>
      </div>
    </>
  )
}

/** Says how the page is connected, and what became of the events while it was not. */
function ConnectionLine() {
  const { isAway } = usePage()
  const link = useRun().feed.link.value
  const isBroken = isAway.value || link.kind === 'broken'
  return (
    <span class="small" role="status">
      <span class="dot" data-state={isBroken ? 'bad' : link.kind === 'live' ? 'good' : 'idle'} />{' '}
      {isBroken ? 'not connected, trying again' : wordsOf(link)}
    </span>
  )
}

function wordsOf(link: Link): string {
  switch (link.kind) {
    case 'connecting':
      return 'connecting …'
    case 'live':
      if (link.isAnew) return 'live; too much had happened meanwhile, so all was read anew'
      return link.missed === 0 ? 'live' : `live; ${plural(link.missed, 'event')} were missed and are shown`
    case 'ended':
      return 'ended; what others decide shows here at once'
    case 'broken':
      return 'not connected, trying again'
    case 'gone':
      return 'deleted'
  }
}
