import type { z } from 'zod'
import { type Answer, type Listing, refuse } from './answers.ts'
import type { Viewer } from './authenticate.ts'
import type { Webhooks } from './webhooks.ts'
import type { Account, HostedRepository, Permissions, World } from './world.ts'

/** What a handler gets: the request, and the GitHub that it changes. */
export type Call = {
  world: World
  webhooks: Webhooks
  parameters: Record<string, string>
  query: URLSearchParams
  body: unknown
  viewer: Viewer
}

/** `sender` is who does it: the bot of the app. */
export type RepositoryCall = Call & { repository: HostedRepository; sender: Account }

/**
 * An operation of the API, named as GitHub's document names it. `for` says who may ask. A repository's routes name the
 * permissions of which a token needs one.
 */
export type Route =
  | { operation: string; for: 'anybody' | 'app'; handle(call: Call): Result }
  | { operation: string; for: Permissions[]; handle(call: RepositoryCall): Result }

type Result = Answer | Listing | Promise<Answer | Listing>

export function appRoute(operation: string, handle: (call: Call) => Result): Route {
  return { operation, for: 'app', handle }
}

export function repositoryRoute(
  operation: string,
  needs: Permissions | Permissions[],
  handle: (call: RepositoryCall) => Result,
): Route {
  return { operation, for: [needs].flat(), handle }
}

/** Returns the body in the form that a handler needs; GitHub's document was asked before, so this refuses what it allows by mistake. */
export function bodyOf<T>(schema: z.ZodType<T>, body: unknown): T {
  const parsed = schema.safeParse(body ?? {})
  if (parsed.success) return parsed.data
  const problem = (issue: z.core.$ZodIssue) => ({
    code: 'invalid',
    field: issue.path.join('.'),
    message: issue.message,
  })
  return refuse(422, 'Validation Failed', ...parsed.error.issues.map(problem))
}
