/** What the middlewares leave for the handlers: whose token it was, and the id that ties logs to an answer. */
export type ApiEnv = { Variables: { projectId: string; requestId: string } }
