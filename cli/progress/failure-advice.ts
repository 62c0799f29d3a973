import type { ErrorCode } from '#domain/error.ts'

/** `retry`: whether the operation may end well when it is tried again as it is, or only once the advice was followed. */
export type FailureAdvice = { text: string; retry: 'now' | 'afterwards' }

const now = (text: string): FailureAdvice => ({ text, retry: 'now' })
const afterwards = (text: string): FailureAdvice => ({ text, retry: 'afterwards' })

const bundleLimit = (name: string) => `raise limits.${name} in the agent's bundle.yaml`
const transcript = 'read what the agent did: remora transcript RUN OPERATION'
const doctor = '"remora doctor" says what is wrong on this machine'

/** What to do about an operation that failed with this code. A retry tells the agent why it failed before. */
const advices: Partial<Record<ErrorCode, FailureAdvice>> = {
  AGENT_001: afterwards('mend the bundle: "remora check" says what is wrong with it'),
  AGENT_002: afterwards('see that the model servers answer: "remora doctor" asks them'),
  AGENT_003: afterwards('the model does not call tools reliably: "remora harness" measures it; use another model'),
  AGENT_004: afterwards(
    `${bundleLimit('max_turns')} (and execution.max_turns in remora.yaml), or use a stronger model`,
  ),
  AGENT_005: now(`a retry tells the agent why its submission was refused; ${transcript}`),
  AGENT_006: afterwards(
    `${bundleLimit('timeout_s')} (and execution.timeout_s in remora.yaml), or use a faster model server`,
  ),
  AGENT_007: afterwards(`${bundleLimit('max_tokens')} or limits.context_tokens, or use a model with a longer context`),
  AGENT_008: now('the connection to the model server broke; a retry may go through'),
  AGENT_009: afterwards('the model writes broken tool calls: "remora harness" measures it; use another model'),
  AGENT_010: now('it was stopped before it had ended'),
  AGENT_011: afterwards(
    `the agent gave up: ${transcript}; then change the agent, or leave the code out with --exclude`,
  ),
  TOOL_001: afterwards('the model calls tools that do not exist: use another model'),
  TOOL_002: afterwards('the model gives its tools wrong arguments: use another model'),
  TOOL_003: afterwards(`a tool took too long: ${bundleLimit('script')}, or make the tool faster`),
  TOOL_004: afterwards(`a tool or its worker crashed: ${transcript}; the log of the services says more`),
  TOOL_005: afterwards(doctor),
  TOOL_006: afterwards(`a tool used too much: ${bundleLimit('script')}, or leave the file out with --exclude`),
  ASK_003: now('nobody answered in time; a retry asks again, and the question stays open for limits.answer_within_s'),
  ASK_004: now('a retry starts it from the beginning'),
  WORK_002: afterwards('the code has changed since the run: run again on the folder as it is now'),
  WORK_004: now(`the change does not parse; ${transcript}`),
  WORK_005: now(`the change could not be proved right; ${transcript}`),
  CONFIG_005: afterwards('see that the model servers answer: "remora doctor" asks them'),
  CONFIG_006: afterwards(doctor),
  STORE_001: now('Redis was away; a retry goes on once it is back'),
  STORE_002: now('the object store was away; a retry goes on once it is back'),
  STORE_003: afterwards('stored data are gone: run again from the folder'),
}

/** For any code, also one that a newer service may answer with. */
export function adviceOnFailure(code: string): FailureAdvice {
  return isAdvised(code) ? (advices[code] ?? now(transcript)) : now(transcript)
}

function isAdvised(code: string): code is ErrorCode {
  return Object.hasOwn(advices, code)
}
