import type { ErrorCode } from './error.ts'

/** `retry`: whether a retry may succeed as it is, or only after the advice was followed. */
type FailureAdvice = { text: string; retry: 'now' | 'afterwards' }

const now = (text: string): FailureAdvice => ({ text, retry: 'now' })
const afterwards = (text: string): FailureAdvice => ({ text, retry: 'afterwards' })

const bundleLimit = (name: string) => `raise limits.${name} in the agent's bundle.yaml`
const transcript = 'read what the agent did: remora transcript RUN OPERATION'
const servers =
  'a retry repeats it, once the model servers answer: "remora doctor" asks those of the settings, --model names others, and 401 or 403 wants REMORA_MODEL_API_KEY'
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
