import type { GitStore } from './git-store.ts'

export type Account = { login: string; id: number; type: 'User' | 'Organization' | 'Bot' }
export type Level = 'none' | 'read' | 'write' | 'admin'
export type Permissions = Record<string, Level>

export type HostedApp = {
  id: number
  slug: string
  name: string
  clientId: string
  privateKey: string
  publicKey: string
  permissions: Permissions
  events: string[]
  webhookSecret: string
}

export type Installation = {
  id: number
  account: Account
  selection: 'all' | 'selected'
  repositories: Set<number>
  permissions: Permissions
  createdAt: Date
  suspendedAt?: Date
}

export type AccessToken = {
  token: string
  installation: Installation
  /** Undefined: all that the installation has, also later. */
  repositories?: Set<number>
  permissions: Permissions
  expiresAt: Date
}

export type PullRequest = {
  number: number
  id: number
  title: string
  body: string | null
  state: 'open' | 'closed'
  draft: boolean
  head: { ref: string; sha: string }
  base: { ref: string; sha: string }
  user: Account
  labels: string[]
  reviewers: string[]
  createdAt: Date
  updatedAt: Date
  closedAt?: Date
  merged?: { at: Date; sha: string; by: Account }
  /** As the API lists them for the issue that it also is, the oldest first. */
  events: { id: number; event: 'closed' | 'merged' | 'reopened' | 'head_ref_deleted'; by: Account; at: Date }[]
}

export type Comment = {
  id: number
  number: number
  body: string
  user: Account
  /** What each account has said of it without words. */
  reactions: { user: Account; content: string }[]
  createdAt: Date
}

export type Annotation = { path: string; start_line: number; end_line: number; message: string }

export type CheckRun = {
  id: number
  suite: number
  name: string
  headSha: string
  externalId: string | null
  detailsUrl: string | null
  status: string
  conclusion: string | null
  startedAt: string
  completedAt: string | null
  output: { title: string | null; summary: string | null; text: string | null }
  annotations: Annotation[]
  actions: { label: string; description: string; identifier: string }[]
}

export type HostedRepository = {
  id: number
  owner: Account
  name: string
  defaultBranch: string
  store: GitStore
  createdAt: Date
  pushedAt: Date
  /** Commits that were made by the API without an author of their own: GitHub signs them. */
  verified: Set<string>
  pulls: Map<number, PullRequest>
  comments: Map<number, Comment>
  checkRuns: Map<number, CheckRun>
  /** The check suite of each commit. */
  suites: Map<string, number>
  /** They may write; all else may read. */
  collaborators: Set<string>
}

/** All that this GitHub knows. Its clock can be moved: what expires there goes by `now`. */
export type World = {
  origin: string
  app: HostedApp
  accounts: Map<string, Account>
  repositories: Map<number, HostedRepository>
  installations: Map<number, Installation>
  tokens: Map<string, AccessToken>
  /** Codes of manifests that have not been used yet. */
  manifestCodes: Set<string>
  now(): Date
  nextId(): number
  /** Changes are made one after the other, as what they check must still hold when they are made. */
  inTurn<T>(work: () => Promise<T>): Promise<T>
}

/** Made when it is first named. */
export function accountOf(world: World, login: string, type: Account['type'] = 'User'): Account {
  const account = world.accounts.get(login) ?? { login, id: world.nextId(), type }
  world.accounts.set(login, account)
  return account
}

export function appBot(world: World): Account {
  return accountOf(world, `${world.app.slug}[bot]`, 'Bot')
}

export function fullName({ owner, name }: HostedRepository): string {
  return `${owner.login}/${name}`
}

export function findRepository(world: World, owner: string, name: string): HostedRepository | undefined {
  const wanted = `${owner}/${name}`.toLowerCase()
  return world.repositories.values().find((one) => fullName(one).toLowerCase() === wanted)
}

export function installationOf(world: World, repository: HostedRepository): Installation | undefined {
  return world.installations.values().find((one) => covers(one, repository))
}

export function covers(installation: Installation, repository: HostedRepository): boolean {
  if (installation.account.id !== repository.owner.id) return false
  return installation.selection === 'all' || installation.repositories.has(repository.id)
}

/** The level of a person in a repository. */
export function levelOf({ owner, collaborators }: HostedRepository, login: string): Level {
  if (owner.login === login) return 'admin'
  return collaborators.has(login) ? 'write' : 'read'
}
