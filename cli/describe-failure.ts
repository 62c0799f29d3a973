import type { CommanderError } from 'commander'
import { AppError, type ErrorCode } from '#domain/error.ts'
import { withoutLogins } from '#platform/hide-secrets.ts'
import { visible } from './terminal-text.ts'

export type Failure = {
  /** One line for a person, or a stack trace for a bug. */
  text: string
  document: { error: { error_code: string | null; message: string; phase?: string; advice?: string } }
}

/** Advice on errors that are thrown where the code does not know that it was called from a command line. */
const advices: Partial<Record<ErrorCode, string>> = {
  RUN_001: '"remora runs" lists the runs',
  RUN_004: '"remora show RUN --operations" lists the operations',
  RUN_006: '"remora watch RUN" follows it to its end',
  RUN_011: '"remora show RUN --plan" shows the plan as it is now',
  RUN_012: 'such runs are begun with --objective',
  HOST_002: '"remora github installations" lists where the GitHub App is installed',
  AUTH_001: 'set REMORA_TOKEN to a token of that service ("remora up" prints one)',
}

/** Is true when the command was called wrongly, for example with an unknown agent or a missing path. The exit code is then 2. */
export function isWrongUsage(error: unknown): boolean {
  return error instanceof AppError && (error.phase === 'usage' || error.code === 'INTAKE_006')
}

/** Says what the operator can do about an error, unless its message says that. */
export function adviceOn({ code, advised }: AppError): string | undefined {
  return advised ? undefined : advices[code]
}

/** Shows the error without logins and control characters. Anything but an AppError is a bug and has its stack trace. */
export function describeFailure(error: unknown): Failure {
  if (error instanceof AppError) {
    const { code, phase } = error
    const message = withoutLogins(error.message)
    const advice = adviceOn(error)
    const document = { error: { error_code: code, message, ...(phase && { phase }), ...(advice && { advice }) } }
    const full = advice === undefined ? message : `${message.replace(/\.$/, '')}: ${advice}`
    return { text: `remora: ${code} ${visible(full)}\n`, document }
  }
  const message = withoutLogins(error instanceof Error ? error.message : String(error))
  const trace = error instanceof Error ? withoutLogins(error.stack ?? message) : message
  return { text: `remora: unexpected error: ${visible(trace)}\n`, document: { error: { error_code: null, message } } }
}

/** Returns wrong usage as `--json` prints it; commander prints the text for a person. It has no error code. */
export function usageDocument({ message }: Pick<CommanderError, 'message'>): Failure['document'] {
  return { error: { error_code: null, message: message.replace(/^error: /, '').replaceAll('\n', ' ') } }
}

/** `retry`: whether a retry may succeed as it is, or only after the advice was followed. */
type FailureAdvice = { text: string; retry: 'now' | 'afterwards' }

const now = (text: string): FailureAdvice => ({ text, retry: 'now' })
const afterwards = (text: string): FailureAdvice => ({ text, retry: 'afterwards' })

const bundleLimit = (name: string) => `raise limits.${name} in the agent's bundle.yaml`
const transcript = 'read what the agent did: remora transcript RUN OPERATION'
const servers =
  'see that the servers in --model answer, or those of the settings, which "remora doctor" asks; for 401 and 403 set REMORA_MODEL_API_KEY'
const doctor = '"remora doctor" says what is wrong on this machine'

/** Says what to do about an operation that failed with this code. A retry gives the agent the reason of the failure. */
const operationAdvices: Partial<Record<ErrorCode, FailureAdvice>> = {
  AGENT_001: afterwards('fix the bundle: "remora check" says what is wrong with it'),
  AGENT_002: afterwards(servers),
  AGENT_003: afterwards(
    'the model does not call tools reliably: "remora harness --model URL" measures it; use another model',
  ),
  AGENT_004: afterwards(
    `${bundleLimit('max_turns')} (and execution.max_turns in remora.yaml), or use a stronger model`,
  ),
  AGENT_005: now(`a retry tells the agent why its submission was refused; ${transcript}`),
  AGENT_006: afterwards(
    `${bundleLimit('timeout_s')} (and execution.timeout_s in remora.yaml), or use a faster model server`,
  ),
  AGENT_007: afterwards(`${bundleLimit('max_tokens')} or limits.context_tokens, or use a model with a longer context`),
  AGENT_008: now('the connection to the model server broke; a retry may go through'),
  AGENT_009: afterwards(
    'the model writes broken tool calls: "remora harness --model URL" measures it; use another model',
  ),
  AGENT_010: now('it was stopped before it had ended'),
  AGENT_011: afterwards(
    `the agent gave up, as where a call was denied: ${transcript}; then change the agent, or leave the code out with --exclude`,
  ),
  TOOL_001: afterwards('the model calls tools that do not exist: use another model'),
  TOOL_002: afterwards('the model gives its tools wrong arguments: use another model'),
  TOOL_003: afterwards(`a tool took too long: ${bundleLimit('script')}, or make the tool faster`),
  TOOL_004: afterwards(`a tool or its worker crashed: ${transcript}; the log of the services says more`),
  TOOL_005: afterwards(
    'no model helps here: "remora doctor" says what programs run in, and what the sandbox lacks is put on the machine or installed by a setup (--setup)',
  ),
  SETUP_001: afterwards('mend the setup: "remora show RUN" has the end of what it wrote'),
  TOOL_006: afterwards(`a tool used too much: ${bundleLimit('script')}, or leave the file out with --exclude`),
  ASK_003: now('nobody answered in time; a retry asks again, and the question stays open for limits.answer_within_s'),
  ASK_004: now('a retry starts it from the beginning'),
  WORK_002: afterwards('the code has changed since the run: run again on the folder as it is now'),
  WORK_004: now(`the change does not parse; ${transcript}`),
  WORK_005: now(`the change could not be proved right; ${transcript}`),
  CONFIG_005: afterwards(servers),
  CONFIG_006: afterwards(doctor),
  STORE_001: now('Redis was unreachable; retry once it is back'),
  STORE_002: now('the object store was unreachable; retry once it is back'),
  STORE_003: afterwards('stored data are missing: run again from the folder'),
}

export function adviceOnOperation(code: string): FailureAdvice {
  return isAdvised(code) ? (operationAdvices[code] ?? now(transcript)) : now(transcript)
}

function isAdvised(code: string): code is ErrorCode {
  return Object.hasOwn(operationAdvices, code)
}
