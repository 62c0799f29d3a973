import { type Account, type HostedRepository, type Installation, type World, fullName } from './world.ts'

/** What the API says of accounts, the app, its installations and repositories. */
export function accountJson({ origin }: World, { login, id, type }: Account) {
  const url = `${origin}/users/${encodeURIComponent(login)}`
  const part = (name: string) => `${url}/${name}`
  return {
    login,
    id,
    node_id: nodeId('U', id),
    avatar_url: `${origin}/avatars/${id}`,
    gravatar_id: '',
    url,
    html_url: `${origin}/${encodeURIComponent(login)}`,
    followers_url: part('followers'),
    following_url: part('following{/other_user}'),
    gists_url: part('gists{/gist_id}'),
    starred_url: part('starred{/owner}{/repo}'),
    subscriptions_url: part('subscriptions'),
    organizations_url: part('orgs'),
    repos_url: part('repos'),
    events_url: part('events{/privacy}'),
    received_events_url: part('received_events'),
    type,
    site_admin: false,
  }
}

/** `owner` is the account that registered the app. */
export function appJson(world: World) {
  const { app } = world
  const registered = new Date(0).toISOString()
  return {
    id: app.id,
    slug: app.slug,
    client_id: app.clientId,
    node_id: nodeId('A', app.id),
    owner: accountJson(world, { login: 'app-owner', id: 1, type: 'Organization' }),
    name: app.name,
    description: '',
    external_url: `${world.origin}/app-owner`,
    html_url: `${world.origin}/apps/${app.slug}`,
    created_at: registered,
    updated_at: registered,
    permissions: app.permissions,
    events: app.events,
  }
}

export function installationJson(world: World, installation: Installation) {
  const { id, account, suspendedAt } = installation
  const created = installation.createdAt.toISOString()
  return {
    id,
    client_id: world.app.clientId,
    account: accountJson(world, account),
    repository_selection: installation.selection,
    access_tokens_url: `${world.origin}/app/installations/${id}/access_tokens`,
    repositories_url: `${world.origin}/installation/repositories`,
    html_url: `${world.origin}/settings/installations/${id}`,
    app_id: world.app.id,
    app_slug: world.app.slug,
    target_id: account.id,
    target_type: account.type,
    permissions: installation.permissions,
    events: world.app.events,
    created_at: created,
    updated_at: created,
    single_file_name: null,
    has_multiple_single_files: false,
    single_file_paths: [],
    suspended_by: suspendedAt === undefined ? null : accountJson(world, account),
    suspended_at: suspendedAt?.toISOString() ?? null,
  }
}

/** Its `webhook-push` form has times in seconds; see push-json. */
export function repositoryJson(world: World, repository: HostedRepository) {
  const { id, name, owner } = repository
  const url = `${world.origin}/repos/${fullName(repository)}`
  const htmlUrl = `${world.origin}/${fullName(repository)}`
  const openIssues = repository.pulls.values().reduce((count, { state }) => count + (state === 'open' ? 1 : 0), 0)
  return {
    id,
    node_id: nodeId('R', id),
    name,
    full_name: fullName(repository),
    private: repository.private,
    visibility: repository.private ? 'private' : 'public',
    owner: accountJson(world, owner),
    html_url: htmlUrl,
    description: null,
    fork: repository.fork,
    url,
    ...repositoryLinks(url),
    git_url: htmlUrl.replace(/^http/, 'git'),
    ssh_url: `git@${new URL(world.origin).hostname}:${fullName(repository)}.git`,
    clone_url: `${htmlUrl}.git`,
    svn_url: htmlUrl,
    mirror_url: null,
    homepage: null,
    created_at: repository.createdAt.toISOString(),
    updated_at: repository.createdAt.toISOString(),
    pushed_at: repository.pushedAt.toISOString(),
    ...sameForAll,
    open_issues_count: openIssues,
    open_issues: openIssues,
    language: null,
    license: null,
    topics: [],
    custom_properties: {},
    default_branch: repository.defaultBranch,
  }
}

const sameForAll = {
  size: 1,
  stargazers_count: 0,
  watchers_count: 0,
  watchers: 0,
  forks_count: 0,
  forks: 0,
  network_count: 0,
  subscribers_count: 0,
  has_issues: true,
  has_projects: true,
  has_wiki: true,
  has_pages: false,
  has_downloads: true,
  has_discussions: false,
  archived: false,
  disabled: false,
  allow_forking: true,
  is_template: false,
  web_commit_signoff_required: false,
}

const linkTemplates: Record<string, string> = {
  archive: '{archive_format}{/ref}',
  assignees: '{/user}',
  'git/blobs': '{/sha}',
  branches: '{/branch}',
  collaborators: '{/collaborator}',
  comments: '{/number}',
  commits: '{/sha}',
  compare: '{base}...{head}',
  contents: '{+path}',
  contributors: '',
  deployments: '',
  downloads: '',
  events: '',
  forks: '',
  'git/commits': '{/sha}',
  'git/refs': '{/sha}',
  'git/tags': '{/sha}',
  hooks: '',
  'issues/comments': '{/number}',
  'issues/events': '{/number}',
  issues: '{/number}',
  keys: '{/key_id}',
  labels: '{/name}',
  languages: '',
  merges: '',
  milestones: '{/number}',
  notifications: '{?since,all,participating}',
  pulls: '{/number}',
  releases: '{/id}',
  stargazers: '',
  statuses: '{/sha}',
  subscribers: '',
  subscription: '',
  tags: '',
  teams: '',
  'git/trees': '{/sha}',
}

const renamedLinks: Record<string, string> = {
  'git/blobs': 'blobs_url',
  'git/trees': 'trees_url',
  'issues/comments': 'issue_comment_url',
  'issues/events': 'issue_events_url',
}

function repositoryLinks(url: string): Record<string, string> {
  const links = Object.entries(linkTemplates).map(([part, rest]) => {
    const path = rest.startsWith('{archive') || rest.startsWith('{base') || rest.startsWith('{+') ? `${part}/` : part
    const name = renamedLinks[part] ?? `${part.replace('/', '_')}_url`
    return [name, `${url}/${rest.startsWith('{archive') ? '' : path}${rest}`]
  })
  return Object.fromEntries(links)
}

export function nodeId(kind: string, id: number | string): string {
  return `${kind}_${Buffer.from(String(id)).toString('base64url')}`
}
