import type { FileDiff } from './git-diff.ts'
import type { GitCommit, GitPerson } from './git-store.ts'
import { accountJson, nodeId } from './account-json.ts'
import { type HostedRepository, type World, accountOf, appBot, fullName } from './world.ts'

/** What the API says of commits, refs and changed files. */
export function urlsOf(world: World, repository: HostedRepository) {
  const name = fullName(repository)
  return { api: `${world.origin}/repos/${name}`, html: `${world.origin}/${name}` }
}

function verification(repository: HostedRepository, commit: GitCommit) {
  if (!repository.verified.has(commit.sha))
    return { verified: false, reason: 'unsigned', signature: null, payload: null, verified_at: null }
  const signature = '-----BEGIN PGP SIGNATURE-----\n\nof the fake GitHub\n-----END PGP SIGNATURE-----\n'
  return {
    verified: true,
    reason: 'valid',
    signature,
    payload: `tree ${commit.tree}\n`,
    verified_at: commit.committer.date,
  }
}

/** As the Git data API has it. */
export function gitCommitJson(world: World, repository: HostedRepository, commit: GitCommit) {
  const { api, html } = urlsOf(world, repository)
  const parents = commit.parents.map((sha) => ({
    sha,
    url: `${api}/git/commits/${sha}`,
    html_url: `${html}/commit/${sha}`,
  }))
  return {
    sha: commit.sha,
    node_id: nodeId('C', commit.sha),
    url: `${api}/git/commits/${commit.sha}`,
    html_url: `${html}/commit/${commit.sha}`,
    author: commit.author,
    committer: commit.committer,
    message: commit.message,
    tree: { sha: commit.tree, url: `${api}/git/trees/${commit.tree}` },
    parents,
    verification: verification(repository, commit),
  }
}

/** As the commits API has it. */
export function commitJson(world: World, repository: HostedRepository, commit: GitCommit) {
  const { api, html } = urlsOf(world, repository)
  return {
    sha: commit.sha,
    node_id: nodeId('C', commit.sha),
    url: `${api}/commits/${commit.sha}`,
    html_url: `${html}/commit/${commit.sha}`,
    comments_url: `${api}/commits/${commit.sha}/comments`,
    commit: {
      url: `${api}/git/commits/${commit.sha}`,
      author: commit.author,
      committer: commit.committer,
      message: commit.message,
      comment_count: 0,
      tree: { sha: commit.tree, url: `${api}/git/trees/${commit.tree}` },
      verification: verification(repository, commit),
    },
    author: personAccount(world, commit.author),
    committer: personAccount(world, commit.committer),
    parents: commit.parents.map((sha) => ({
      sha,
      url: `${api}/commits/${sha}`,
      html_url: `${html}/commit/${sha}`,
    })),
  }
}

/** GitHub knows who wrote a commit by the address; here that is LOGIN@users.noreply.github.com. */
function personAccount(world: World, { email }: GitPerson) {
  const login = /^(?:\d+\+)?(.+)@users\.noreply\.github\.com$/.exec(email)?.[1]
  return login === undefined ? {} : accountJson(world, accountOf(world, login))
}

/** The app's own bot, which is the author of what the API commits without naming anybody. */
export function botPerson(world: World): GitPerson {
  const { login, id } = appBot(world)
  return { name: login, email: `${id}+${login}@users.noreply.github.com`, date: world.now().toISOString() }
}

export function refJson(world: World, repository: HostedRepository, ref: { ref: string; sha: string; type: string }) {
  const { api } = urlsOf(world, repository)
  return {
    ref: ref.ref,
    node_id: nodeId('REF', `${repository.id}:${ref.ref}`),
    url: `${api}/git/${encodeURI(ref.ref)}`,
    object: { sha: ref.sha, type: ref.type, url: `${api}/git/${ref.type}s/${ref.sha}` },
  }
}

/** `at` is the commit that has the new files. */
export function diffJson(world: World, repository: HostedRepository, file: FileDiff, at: string) {
  const { api, html } = urlsOf(world, repository)
  const path = encodeURI(file.path)
  return {
    sha: file.sha,
    filename: file.path,
    status: file.status,
    additions: file.additions,
    deletions: file.deletions,
    changes: file.additions + file.deletions,
    blob_url: `${html}/blob/${at}/${path}`,
    raw_url: `${html}/raw/${at}/${path}`,
    contents_url: `${api}/contents/${path}?ref=${at}`,
    ...(file.patch === undefined ? {} : { patch: file.patch }),
    ...(file.previousPath === undefined ? {} : { previous_filename: file.previousPath }),
  }
}
