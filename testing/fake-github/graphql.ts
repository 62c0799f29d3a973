import { schema as document } from '@octokit/graphql-schema'
import { buildSchema, type ExecutionResult, graphql, GraphQLError, type GraphQLSchema } from 'graphql'
import { z } from 'zod'
import { type Answer, answer, refuse, Refusal } from './answers.ts'
import { allows, granted, reaches, type Viewer } from './authenticate.ts'
import { nodeId } from './bodies.ts'
import { noCommit } from './git-store.ts'
import { moveRef } from './move-ref.ts'
import type { RateLimits } from './rate-limits.ts'
import type { Webhooks } from './webhooks.ts'
import { appBot, type HostedRepository, type World } from './world.ts'

/** What GitHub refuses with status 200, among the `errors` of the answer. */
class Refused extends Error {
  readonly type: 'FORBIDDEN' | 'NOT_FOUND' | 'RATE_LIMITED' | 'UNPROCESSABLE'

  constructor(type: Refused['type'], message: string) {
    super(message)
    this.type = type
  }
}

type At = { world: World; webhooks: Webhooks; limits: Pick<RateLimits, 'spend'>; viewer: Viewer }

const Asked = z.object({ query: z.string(), variables: z.record(z.string(), z.unknown()).optional() })

let schema: GraphQLSchema | undefined

/**
 * GitHub's GraphQL API, of which the apps here need one mutation. What the query asks is held against GitHub's own schema; throws for what
 * that does not have.
 */
export async function answerGraphql(at: At, body: unknown): Promise<Answer> {
  if (at.viewer.kind !== 'installation') refuse(401, 'Bad credentials')
  const asked = Asked.parse(body)
  schema ??= buildSchema(document.idl, { assumeValid: true })
  const result = await graphql({
    schema,
    source: asked.query,
    variableValues: asked.variables ?? {},
    rootValue: {
      updateRefs: async ({ input }: { input: unknown }) => {
        await orRefused('RATE_LIMITED', () => at.limits.spend(at.viewer))
        return updateRefs(at, UpdateRefs.parse(input))
      },
    },
  })
  return answer(200, { ...result, ...(result.errors && { errors: result.errors.map(refusalJson) }) })
}

function refusalJson(error: NonNullable<ExecutionResult['errors']>[number]) {
  const { originalError } = error
  if (!(originalError instanceof Refused)) throw originalError instanceof GraphQLError ? originalError : error
  return { type: originalError.type, ...error.toJSON() }
}

const UpdateRefs = z.object({
  clientMutationId: z.string().optional(),
  repositoryId: z.string(),
  refUpdates: z.tuple([
    z.object({ name: z.string(), beforeOid: z.string(), afterOid: z.string(), force: z.literal(true) }),
  ]),
})

/** Moves the ref if it is where the caller says that it is; `beforeOid` of zeros: if there is none. */
async function updateRefs(at: At, { repositoryId, refUpdates, clientMutationId = '' }: z.infer<typeof UpdateRefs>) {
  const repository = writable(at, repositoryId)
  const { store } = repository
  const [{ name: ref, beforeOid, afterOid }] = refUpdates
  if (!(await store.isRefName(ref))) unprocessable(`${ref} is not a valid ref name`)
  const before = (await store.readRef(ref)) ?? noCommit
  if (beforeOid !== before) unprocessable(`${ref} is not at ${beforeOid}`)
  if (!(await store.has(afterOid, 'commit'))) unprocessable(`${afterOid} does not exist`)
  const move = { ref, ...(before !== noCommit && { before }), after: afterOid }
  await orRefused('UNPROCESSABLE', () => moveRef({ ...at, repository, sender: appBot(at.world) }, move))
  return { clientMutationId }
}

function writable({ world, viewer }: At, id: string): HostedRepository {
  const found = world.repositories.values().find((one) => nodeId('R', one.id) === id)
  if (viewer.kind !== 'installation' || found === undefined || !reaches(viewer.token, found))
    throw new Refused('NOT_FOUND', `Could not resolve to a node with the global id of '${id}'`)
  if (!allows(granted(viewer.token, 'contents'), 'write'))
    throw new Refused('FORBIDDEN', 'Resource not accessible by integration')
  return found
}

/** What the REST API would refuse. */
async function orRefused(type: Refused['type'], work: () => void | Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    throw error instanceof Refusal ? new Refused(type, error.message) : error
  }
}

function unprocessable(message: string): never {
  throw new Refused('UNPROCESSABLE', message)
}
