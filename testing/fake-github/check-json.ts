import { appJson, nodeId } from './account-json.ts'
import { urlsOf } from './git-json.ts'
import { shortPullJson } from './pull-json.ts'
import type { CheckRun, HostedRepository, World } from './world.ts'

/** What the API says of check runs and their suites. */
export function checkRunJson(world: World, repository: HostedRepository, run: CheckRun) {
  const { api, html } = urlsOf(world, repository)
  const url = `${api}/check-runs/${run.id}`
  return {
    id: run.id,
    name: run.name,
    node_id: nodeId('CR', run.id),
    head_sha: run.headSha,
    external_id: run.externalId ?? '',
    url,
    html_url: `${html}/runs/${run.id}`,
    details_url: run.detailsUrl ?? `${world.origin}/apps/${world.app.slug}`,
    status: run.status,
    conclusion: run.conclusion,
    started_at: run.startedAt,
    completed_at: run.completedAt,
    output: { ...run.output, annotations_count: run.annotations.length, annotations_url: `${url}/annotations` },
    check_suite: { id: run.suite },
    app:
      run.otherApp === undefined
        ? appJson(world)
        : { ...appJson(world), id: otherAppId, slug: run.otherApp, name: run.otherApp },
    pull_requests: pullsAt(world, repository, run.headSha),
  }
}

export const otherAppId = 15_368

function pullsAt(world: World, repository: HostedRepository, sha: string) {
  const pulls = repository.pulls.values().filter((one) => one.state === 'open' && one.head.sha === sha)
  return [...pulls].map((pull) => shortPullJson(world, repository, pull))
}

/** As webhooks have it: with its suite, which is more than an id there. */
export function sentCheckRunJson(world: World, repository: HostedRepository, run: CheckRun) {
  const pulls = pullsAt(world, repository, run.headSha)
  const suite = {
    id: run.suite,
    node_id: nodeId('CS', run.suite),
    head_branch: pulls[0]?.head.ref ?? repository.defaultBranch,
    head_sha: run.headSha,
    status: run.status,
    conclusion: run.conclusion,
    url: `${urlsOf(world, repository).api}/check-suites/${run.suite}`,
    before: null,
    after: run.headSha,
    pull_requests: pulls,
    app: appJson(world),
    created_at: run.startedAt ?? world.now().toISOString(),
    updated_at: run.completedAt ?? world.now().toISOString(),
  }
  return { ...checkRunJson(world, repository, run), check_suite: suite, started_at: run.startedAt ?? suite.created_at }
}

export function annotationsJson(world: World, repository: HostedRepository, run: CheckRun) {
  const { html } = urlsOf(world, repository)
  return run.annotations.map((one) => ({
    path: one.path,
    blob_href: `${html}/blob/${run.headSha}/${encodeURI(one.path)}`,
    start_line: one.start_line,
    end_line: one.end_line,
    start_column: one.start_column ?? null,
    end_column: one.end_column ?? null,
    annotation_level: one.annotation_level,
    title: one.title ?? null,
    message: one.message,
    raw_details: one.raw_details ?? null,
  }))
}
