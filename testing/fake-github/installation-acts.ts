import { accountJson, nodeId } from './account-json.ts'
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
  /** Those of the app by default. */
  permissions?: Permissions
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
    permissions: { ...(wanted.permissions ?? world.app.permissions), metadata: 'read' },
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
    webhooks.emit({ event, action, payload: { ...more, sender: accountJson(world, sender) }, installation })
  }

  function tellSelection(action: 'added' | 'removed', names: string[]): void {
    const changed = names.map((name) => shortJson(repositoryNamed(name)))
    tell('installation_repositories', action, {
      repository_selection: installation.selection,
      repositories_added: action === 'added' ? changed : [],
      repositories_removed: action === 'removed' ? changed : [],
      requester: null,
    })
  }

  return {
    id: installation.id,
    addRepositories(...names: string[]) {
      for (const name of names) installation.repositories.add(repositoryNamed(name).id)
      tellSelection('added', names)
    },
    removeRepositories(...names: string[]) {
      for (const name of names) installation.repositories.delete(repositoryNamed(name).id)
      tellSelection('removed', names)
    },
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
  return { id, node_id: nodeId('R', id), name, full_name: fullName(repository), private: repository.private }
}
