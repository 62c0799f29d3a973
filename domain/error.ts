type ErrorPolicy = { readonly meaning: string; readonly retry: boolean; readonly status: number }

const once = (meaning: string, status: number): ErrorPolicy => ({ meaning, retry: false, status })
const again = (meaning: string, status: number): ErrorPolicy => ({ meaning, retry: true, status })

/** docs/reference/errors.md lists this closed table. A code never changes its meaning, and no number is given twice. */
export const errorPolicies = {
  CONFIG_001: once('configuration not found', 500),
  CONFIG_002: once('configuration is not valid YAML', 500),
  CONFIG_003: once('configuration does not match its schema', 500),
  CONFIG_004: once('unknown configuration key', 500),
  CONFIG_005: once('model server unreachable at start', 500),
  CONFIG_006: once('a program or service this machine needs is missing', 500),
  DISC_001: once('query pack missing', 500),
  DISC_002: once('query does not compile', 500),
  DISC_003: once('unknown language', 400),
  DISC_004: once('manifest hash differs', 500),
  DISC_005: once('file unreadable', 422),
  AGENT_001: once('bundle invalid', 500),
  AGENT_002: again('no model server gave an answer', 503),
  AGENT_003: once('the model answered without calling a tool when it had to', 422),
  AGENT_004: once('the agent used all its turns, or repeated itself', 422),
  AGENT_005: once('the submission of the agent was not valid', 422),
  AGENT_006: once('the agent used all its time', 422),
  AGENT_007: once('a text was too long for the limits of the agent or the model', 422),
  AGENT_008: again('the answer of the model broke off', 502),
  AGENT_009: once('tool-call arguments are not valid JSON', 422),
  AGENT_010: once('cancelled', 409),
  AGENT_011: once('the agent reported that it could not do the work', 422),
  TOOL_001: once('the model called a tool that does not exist', 422),
  TOOL_002: once('a tool was called with invalid arguments', 422),
  TOOL_003: once('a tool took too long', 422),
  TOOL_004: once('a tool or its process crashed', 500),
  TOOL_005: once('a program that the work needs cannot be run here', 503),
  TOOL_006: once('a tool used more memory or time than its limits allow', 422),
  TOOL_007: once('path outside the workspace', 422),
  TOOL_008: once('a person has denied the call of a tool', 422),
  ASK_001: once('unknown question of the run', 404),
  ASK_002: once('the question has been answered', 409),
  ASK_003: once('the question has expired', 409),
  ASK_004: once('the script that asked cannot continue: it, or what it did before, has changed', 409),
  ASK_005: once('the question does not accept this answer', 422),
  WORK_001: once('two change sets change the same place', 409),
  WORK_002: once('the file is no longer the one that the change was made for', 409),
  WORK_003: once('somebody has decided otherwise meanwhile', 409),
  WORK_004: once('a change set leaves a file that does not pass its checks', 422),
  WORK_005: once('a check that the agent asks for did not pass', 422),
  WORK_006: once('git, or a hook of the repository, refuses the commit', 422),
  WORK_007: once("the run's gate fails with the change set, or has not proved it", 422),
  HOST_001: again('the code host does not answer, or asks to come back later', 503),
  HOST_002: once('the repository or installation is not known here, or the code host does not have it', 404),
  HOST_003: once('the code host has taken the permission away, or never gave it', 403),
  HOST_004: once('the code host does not have the commit, branch or tag', 404),
  PUBLISH_001: once('what would be published is not what was checked, or must not be published', 422),
  PUBLISH_002: once("a branch has a commit that is not the publisher's", 409),
  PUBLISH_003: once('a limit of the repository keeps it from being published now', 409),
  PUBLISH_004: once('the run has no repository at a code host, or nothing publishes here', 409),
  PUBLISH_005: once(
    'the signature of the API or of the publisher is missing or wrong: somebody else has written it',
    403,
  ),
  SETUP_001: once("the repository's setup failed, or its result is not there", 422),
  SETUP_002: once('the operator of the service allows no setups', 403),
  INTAKE_001: once('archive unreadable', 422),
  INTAKE_002: once('unsafe path or link', 422),
  INTAKE_003: once('over a size, count or ratio limit', 413),
  INTAKE_004: once('wrong or missing signature of a webhook', 401),
  INTAKE_005: once('the Idempotency-Key was used before with another request', 422),
  INTAKE_006: once('unknown agent', 422),
  INTAKE_007: once('no code that the agents work on, or nothing to retry', 422),
  INTAKE_008: once('request does not match its schema', 422),
  AUTH_001: once('missing or unknown token', 401),
  AUTH_002: once('the token lacks the scope', 403),
  AUTH_003: once('no such token to revoke', 404),
  PROJECT_001: once('unknown project', 404),
  HTTP_001: once('no such address', 404),
  HTTP_002: once('method not allowed', 405),
  HTTP_003: once('unsupported content type', 415),
  HTTP_004: once('not valid HTTP', 400),
  HTTP_005: once('request headers too large', 431),
  HTTP_006: again('the request came too slowly', 408),
  HTTP_007: once('unexpected error', 500),
  HTTP_008: once('expectation not supported', 417),
  LIMIT_001: again('too many requests', 429),
  LIMIT_002: again('too many uploads at once', 503),
  LIMIT_003: again('too many runs of the token at once', 429),
  LIMIT_004: again('a budget has too little left for the request now, or the time of an item is over', 503),
  POLICY_001: once('the model that decides about the run cannot be used', 503),
  POLICY_002: once('the model that decides about the run gave no valid decision', 422),
  POLICY_003: once('the model that decides about the run found no way to its objective', 422),
  POLICY_004: once('decisions about the run made no progress', 422),
  RUN_001: once('unknown run', 404),
  RUN_002: once('unknown filter value', 400),
  RUN_003: once('a required milestone is missing', 422),
  RUN_004: once('unknown operation, node, change set or artifact of the run', 404),
  RUN_005: once('a run of a newer schema', 409),
  RUN_006: once('not ready yet', 409),
  RUN_007: once('the run has ended', 409),
  RUN_008: once('the plan changed while it was made', 409),
  RUN_009: once('the run was begun with another kind of model', 409),
  RUN_010: once('somebody else has taken the result of the run', 409),
  RUN_011: once('the run has no such plan to approve', 409),
  RUN_012: once('the run has no objective', 409),
  STORE_001: again('Redis unavailable', 503),
  STORE_002: again('object store unavailable', 503),
  STORE_003: once('object missing or hash mismatch', 500),
} as const satisfies Record<string, ErrorPolicy>

export type ErrorCode = keyof typeof errorPolicies

export function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === 'string' && Object.hasOwn(errorPolicies, value)
}

/**
 * The one error that is thrown on purpose. `phase` says where, and survives with the code. Where `message` is only for the log, `detail` is
 * what callers of the API may read. `advised`: the message says what the operator can do, so the command line adds no advice.
 */
export class AppError extends Error {
  override readonly name = 'AppError'
  readonly code: ErrorCode
  readonly phase: string | undefined
  readonly detail: string | undefined
  readonly advised: boolean

  constructor(
    code: ErrorCode,
    message: string,
    options: { cause?: unknown; phase?: string; detail?: string; advised?: boolean } = {},
  ) {
    super(message, options.cause === undefined ? {} : { cause: options.cause })
    this.code = code
    this.phase = options.phase
    this.detail = options.detail
    this.advised = options.advised === true
  }

  get retry(): boolean {
    return errorPolicies[this.code].retry
  }

  get status(): number {
    return errorPolicies[this.code].status
  }
}

/** Returns an AppError unchanged, and wraps any other error in one with `code`. */
export function asAppError(error: unknown, code: ErrorCode, phase?: string): AppError {
  if (error instanceof AppError) return error
  const message = error instanceof Error ? error.message : String(error)
  return new AppError(code, message, { cause: error, ...(phase === undefined ? {} : { phase }) })
}

export function hasCode(error: unknown, ...codes: readonly ErrorCode[]): error is AppError {
  return error instanceof AppError && codes.includes(error.code)
}

/** Makes a handler for `promise.catch(…)`: undefined for an AppError with one of these codes; it throws any other. */
export function undefinedOn(...codes: readonly ErrorCode[]): (error: unknown) => undefined {
  return (error) => {
    if (!hasCode(error, ...codes)) throw error
  }
}

/** Ends an exhaustive switch: a new member of the union is a type error here, and a foreign value throws at run time. */
export function unreachable(value: never): never {
  throw new Error(`unexpected value: ${JSON.stringify(value)}`)
}

/** Is AGENT_007 for a request that is longer than the model's context: it may fit with fewer messages. */
export class ContextOverflow extends AppError {
  constructor(message: string, cause: unknown) {
    super('AGENT_007', message, { cause, phase: 'model' })
  }
}

/** Is true when a request was longer than the model's context; also looks into the cause of a pool's error. */
export function isContextOverflow(error: unknown): boolean {
  if (error instanceof ContextOverflow) return true
  return hasCode(error, 'AGENT_007') && isContextOverflow(error.cause)
}

/** Says what kept servers from answering. `unsent`: none got the request. `doubtful`: one had it, and broke or was silent. */
export type ModelFaultKind = 'unsent' | 'server' | 'busy' | 'doubtful'

/** Is AGENT_002 for a request that no server answered. `isAway`: a probe that followed found no server that works. */
export class ModelUnavailable extends AppError {
  readonly kind: ModelFaultKind
  readonly isAway: boolean

  constructor(message: string, options: { cause?: unknown; kind?: ModelFaultKind; isAway?: boolean } = {}) {
    super('AGENT_002', message, { cause: options.cause, phase: 'model' })
    this.kind = options.kind ?? 'unsent'
    this.isAway = options.isAway ?? false
  }

  /** Is true when the request may be the reason after all: servers broke over it, or answer others. */
  get mayBeTheRequest(): boolean {
    return this.kind === 'doubtful' || (this.kind === 'server' && !this.isAway)
  }

  get wasTurnedAway(): boolean {
    return this.kind === 'busy' && !this.isAway
  }
}

/** Is AGENT_008 for a reply whose end is missing: unlike one that makes no sense, it says nothing about the request. */
export class CutReply extends AppError {
  constructor(message: string, cause?: unknown) {
    super('AGENT_008', message, { cause, phase: 'model' })
  }
}
