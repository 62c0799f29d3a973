import { z } from 'zod'
import { accountJson, nodeId, repositoryJson } from './account-json.ts'
import { urlsOf } from './git-json.ts'
import { answer, found, refuse } from './answers.ts'
import { associationOf, commentJson, issueJson, labelJson } from './pull-json.ts'
import { pullOf } from './pull-routes.ts'
import { type RepositoryCall, bodyOf, repositoryRoute } from './routes.ts'
import type { RepositoryEvent } from './move-ref.ts'
import { type Comment, type PullRequest, accountOf, levelOf } from './world.ts'

/** What is done to a pull request as the issue that it also is needs one of the two permissions. */
const read = [{ issues: 'read' }, { pull_requests: 'read' }] as const
const write = [{ issues: 'write' }, { pull_requests: 'write' }] as const
const issue = '/repos/{owner}/{repo}/issues/{issue_number}'
const comment = '/repos/{owner}/{repo}/issues/comments/{comment_id}'

export const issueRoutes = [
  repositoryRoute(`GET ${issue}/labels`, [...read], (call) => ({ items: labelsJson(call) })),
  repositoryRoute(`POST ${issue}/labels`, [...write], (call) => setLabels(call, pullOf(call).labels)),
  repositoryRoute(`PUT ${issue}/labels`, [...write], (call) => setLabels(call, [])),
  repositoryRoute(`GET ${issue}/events`, [...read], listEvents),
  repositoryRoute(`GET ${issue}/comments`, [...read], listComments),
  repositoryRoute(`POST ${issue}/comments`, [...write], createComment),
  repositoryRoute(`GET ${comment}`, [...read], (call) =>
    answer(200, commentJson(call.world, call.repository, commentOf(call))),
  ),
  repositoryRoute(`PATCH ${comment}`, [...write], updateComment),
  repositoryRoute(`POST ${comment}/reactions`, [...write], addReaction),
  repositoryRoute(
    'GET /repos/{owner}/{repo}/collaborators/{username}/permission',
    { metadata: 'read' },
    readPermission,
  ),
]

function labelsJson(call: RepositoryCall) {
  return pullOf(call).labels.map((name) => labelJson(call.world, call.repository, name))
}

const Labels = z
  .union([
    z.object({ labels: z.array(z.unknown()).default([]) }),
    z.array(z.unknown()).transform((labels) => ({ labels })),
  ])
  .transform(({ labels }) =>
    labels.map((label) => (typeof label === 'string' ? label : z.object({ name: z.string() }).parse(label).name)),
  )

function setLabels(call: RepositoryCall, kept: readonly string[]) {
  const pull = pullOf(call)
  pull.labels = [...new Set([...kept, ...bodyOf(Labels, call.body)])]
  pull.updatedAt = call.world.now()
  return answer(200, labelsJson(call))
}

function listComments(call: RepositoryCall) {
  const { world, repository, query } = call
  const { number } = pullOf(call)
  const since = query.get('since')
  const comments = [...repository.comments.values()].filter(
    (one) => one.number === number && (since === null || one.updatedAt.getTime() >= Date.parse(since)),
  )
  return { items: comments.map((one) => commentJson(world, repository, one)) }
}

/** Times are in seconds. */
function listEvents(call: RepositoryCall) {
  const { world, repository } = call
  const { api } = urlsOf(world, repository)
  const items = pullOf(call).events.map(({ id, event, by, at }) => ({
    id,
    node_id: nodeId('E', id),
    url: `${api}/issues/events/${id}`,
    actor: accountJson(world, by),
    event,
    commit_id: null,
    commit_url: null,
    created_at: at.toISOString().replace(/\.\d+Z$/, 'Z'),
    performed_via_github_app: null,
  }))
  return { items }
}

const NewComment = z.object({ body: z.string() })
const longestComment = 65_536

function createComment(call: RepositoryCall) {
  const { body } = bodyOf(NewComment, call.body)
  refuseLong(body)
  const association = associationOf(call.repository, call.sender.login)
  const added = addComment(call, { pull: pullOf(call), body, association })
  return answer(201, commentJson(call.world, call.repository, added))
}

function refuseLong(body: string): void {
  if (body.trim() === '')
    refuse(422, 'Validation Failed', { errors: [{ resource: 'IssueComment', field: 'body', code: 'missing_field' }] })
  if (body.length <= longestComment) return
  refuse(422, 'Validation Failed', {
    errors: [
      {
        resource: 'IssueComment',
        field: 'body',
        code: 'custom',
        message: `body is too long (maximum is ${longestComment} characters)`,
      },
    ],
  })
}

/** Also what a person does; the app is told. */
export function addComment(
  { world, webhooks, repository, sender }: RepositoryEvent,
  { pull, body, association }: { pull: PullRequest; body: string; association: string },
): Comment {
  const now = world.now()
  const added = {
    id: world.nextId(),
    number: pull.number,
    body,
    user: sender,
    association,
    reactions: [],
    createdAt: now,
    updatedAt: now,
  }
  repository.comments.set(added.id, added)
  const payload = {
    issue: issueJson(world, repository, pull),
    comment: commentJson(world, repository, added),
    repository: repositoryJson(world, repository),
    sender: accountJson(world, sender),
  }
  webhooks.emit({ event: 'issue_comment', action: 'created', payload, repository })
  return added
}

function commentOf({ repository, parameters }: RepositoryCall): Comment {
  return found(repository.comments.get(Number(parameters['comment_id'])))
}

/** An app edits its own comments only. */
function updateComment(call: RepositoryCall) {
  const changed = commentOf(call)
  if (changed.user.id !== call.sender.id) refuse(403, 'Resource not accessible by integration')
  const { body } = bodyOf(NewComment, call.body)
  refuseLong(body)
  Object.assign(changed, { body, updatedAt: call.world.now() })
  return answer(200, commentJson(call.world, call.repository, changed))
}

const NewReaction = z.object({
  content: z.enum(['+1', '-1', 'laugh', 'confused', 'heart', 'hooray', 'rocket', 'eyes']),
})

/** 200 for one that the account has added before. */
function addReaction(call: RepositoryCall) {
  const { reactions } = commentOf(call)
  const { content } = bodyOf(NewReaction, call.body)
  const isThere = reactions.some((one) => one.user.id === call.sender.id && one.content === content)
  if (!isThere) reactions.push({ user: call.sender, content })
  const id = call.world.nextId()
  const user = accountJson(call.world, call.sender)
  const made = { id, node_id: nodeId('REA', id), user, content, created_at: call.world.now().toISOString() }
  return answer(isThere ? 200 : 201, made)
}

function readPermission({ world, repository, parameters }: RepositoryCall) {
  const login = parameters['username'] ?? ''
  const level = levelOf(repository, login)
  const granted = { pull: level !== 'none', triage: false, push: level === 'write' || level === 'admin' }
  const permissions = { ...granted, maintain: level === 'admin', admin: level === 'admin' }
  const user = { ...accountJson(world, accountOf(world, login)), role_name: level, permissions }
  return answer(200, { permission: level, role_name: level, user })
}
