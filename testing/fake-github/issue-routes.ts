import { z } from 'zod'
import { answer, found } from './answers.ts'
import { accountJson, commentJson, labelJson, sentRepositoryJson } from './bodies.ts'
import { answerExample, entryExample, like, webhookExample } from './examples.ts'
import type { RepositoryEvent } from './move-ref.ts'
import { pullOf } from './pull-routes.ts'
import { type RepositoryCall, bodyOf, repositoryRoute } from './routes.ts'
import { type Comment, type PullRequest, fullName } from './world.ts'

/** What is done to a pull request as the issue that it also is needs one of the two permissions. */
const read = [{ issues: 'read' }, { pull_requests: 'read' }] as const
const write = [{ issues: 'write' }, { pull_requests: 'write' }] as const
const issue = '/repos/{owner}/{repo}/issues/{issue_number}'
const reactions = '/repos/{owner}/{repo}/issues/comments/{comment_id}/reactions'

export const issueRoutes = [
  repositoryRoute(`POST ${issue}/labels`, [...write], addLabels),
  repositoryRoute(`GET ${issue}/events`, [...read], listEvents),
  repositoryRoute(`GET ${issue}/comments`, [...read], listComments),
  repositoryRoute(`POST ${issue}/comments`, [...write], createComment),
  repositoryRoute(`POST ${reactions}`, [...write], addReaction),
]

const Labels = z.object({ labels: z.array(z.string()) })

function addLabels(call: RepositoryCall) {
  const pull = pullOf(call)
  pull.labels = [...new Set([...pull.labels, ...bodyOf(Labels, call.body).labels])]
  return answer(200, pull.labels.map(labelJson))
}

function listComments(call: RepositoryCall) {
  const { number } = pullOf(call)
  const comments = [...call.repository.comments.values()].filter((one) => one.number === number)
  return { items: comments.map((one) => commentJson(call.world, one)) }
}

/** Times are in seconds. */
function listEvents(call: RepositoryCall) {
  const example = entryExample(`GET ${issue}/events`)
  const items = pullOf(call).events.map(({ id, event, by, at }) => {
    const created = at.toISOString().replace(/\.\d+Z$/, 'Z')
    return like(example, { id, event, actor: accountJson(call.world, by), created_at: created })
  })
  return { items }
}

const longestComment = 65_536
const NewComment = z.object({ body: z.string().trim().min(1).max(longestComment) })

function createComment(call: RepositoryCall) {
  const added = addComment(call, { pull: pullOf(call), ...bodyOf(NewComment, call.body) })
  return answer(201, commentJson(call.world, added))
}

/** Also what a person does; the app is told. */
export function addComment(
  { world, webhooks, repository, sender }: RepositoryEvent,
  { pull, body }: { pull: PullRequest; body: string },
): Comment {
  const { id, number, title, state, user } = pull
  const added = { id: world.nextId(), number, body, user: sender, reactions: [], createdAt: world.now() }
  repository.comments.set(added.id, added)
  const url = `${world.origin}/repos/${fullName(repository)}/pulls/${number}`
  const links = { url, html_url: url, diff_url: url, patch_url: url }
  const payload = like(webhookExample('issue_comment', 'created'), {
    issue: { id, number, title, state, user: accountJson(world, user), pull_request: links },
    comment: commentJson(world, added),
    repository: sentRepositoryJson(world, repository),
    sender: accountJson(world, sender),
  })
  webhooks.emit({ event: 'issue_comment', action: 'created', payload, repository })
  return added
}

const NewReaction = z.object({ content: z.string() })

/** 200 for one that the account has added before. */
function addReaction({ world, repository, sender, parameters, body }: RepositoryCall) {
  const comment = found(repository.comments.get(Number(parameters['comment_id'])))
  const { content } = bodyOf(NewReaction, body)
  const isThere = comment.reactions.some(({ user, content: said }) => user.id === sender.id && said === content)
  if (!isThere) comment.reactions.push({ user: sender, content })
  const made = like(answerExample(`POST ${reactions}`), { content, user: accountJson(world, sender) })
  return answer(isThere ? 200 : 201, made)
}
