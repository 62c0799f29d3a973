import { accountJson, installationJson, nodeId } from './bodies.ts'
import { like, webhookExample } from './examples.ts'
import type { Webhooks } from './webhooks.ts'
import {
  type Account,
  type HostedRepository,
  type Installation,
  type Permissions,
  type World,
  accountOf,
  fullName,
} from './world.ts'

export type NewInstallation = {
  /** The login of the owner of the repositories. */
  account: string
  /** Names without the owner; all that the account has and will have by default. */
  repositories?: string[]
}

/** What an owner does with the app, with the webhooks that follow. */
export function installApp({ world, webhooks }: { world: World; webhooks: Webhooks }, wanted: NewInstallation) {
  const account = accountOf(world, wanted.account)
  const sender: Account = account.type === 'User' ? account : accountOf(world, 'ada')
  const installation: Installation = {
    id: world.nextId(),
    account,
    selection: wanted.repositories === undefined ? 'all' : 'selected',
    repositories: new Set((wanted.repositories ?? []).map((name) => repositoryNamed(name).id)),
    permissions: { ...world.app.permissions, metadata: 'read' },
    createdAt: world.now(),
  }
  world.installations.set(installation.id, installation)
  tell('installation', 'created', { repositories: covered().map(shortJson) })

  function repositoryNamed(name: string): HostedRepository {
    const found = world.repositories.values().find((one) => one.owner.id === account.id && one.name === name)
    if (found === undefined) throw new Error(`${account.login} has no repository ${name}`)
    return found
  }

  function covered(): HostedRepository[] {
    const all = [...world.repositories.values()].filter((one) => one.owner.id === account.id)
    return installation.selection === 'all' ? all : all.filter((one) => installation.repositories.has(one.id))
  }

  function tell(event: 'installation' | 'installation_repositories', action: string, more: object): void {
    const own = { ...more, installation: installationJson(world, installation), sender: accountJson(world, sender) }
    webhooks.emit({ event, action, payload: like(webhookExample(event, action), own), installation })
  }

  function select(action: 'added' | 'removed', names: string[]): void {
    const changed = names.map(repositoryNamed)
    for (const { id } of changed) installation.repositories[action === 'added' ? 'add' : 'delete'](id)
    const [listed, selection] = [changed.map(shortJson), { repository_selection: installation.selection }]
    const lists = { repositories_added: [], repositories_removed: [], [`repositories_${action}`]: listed }
    tell('installation_repositories', action, { ...selection, ...lists, requester: null })
  }

  return {
    id: installation.id,
    addRepositories: (...names: string[]) => select('added', names),
    removeRepositories: (...names: string[]) => select('removed', names),
    /** Takes effect for the tokens that are out, too. */
    setPermissions(permissions: Permissions) {
      installation.permissions = { ...permissions, metadata: 'read' }
    },
    suspend() {
      installation.suspendedAt = world.now()
      tell('installation', 'suspend', {})
    },
    unsuspend() {
      delete installation.suspendedAt
      tell('installation', 'unsuspend', {})
    },
    uninstall() {
      tell('installation', 'deleted', { repositories: covered().map(shortJson) })
      world.installations.delete(installation.id)
    },
  }
}

function shortJson(repository: HostedRepository) {
  const { id, name } = repository
  return { id, node_id: nodeId('R', id), name, full_name: fullName(repository), private: false }
}
