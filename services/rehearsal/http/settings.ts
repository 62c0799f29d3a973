import type { IncomingMessage, ServerResponse } from 'node:http'
import { z } from 'zod'
import { parseJson } from '#domain/json.ts'
import { FaultPlan, openFaultDraw } from '../faults.ts'
import { Refusals } from '../refusals.ts'
import { answerError, answerJson } from './answer.ts'
import type { RehearsalState } from './chat-completions.ts'
import { readBody } from './read-body.ts'

const maxBodyBytes = 64 * 1024
const Latency = z.strictObject({ ms: z.number().min(0) })

/** `POST /faults {"shares": {"429": 0.1}, "seed": 1, "times"?: 3}` replaces the plan; answers it with its seed. */
export async function setFaults(request: IncomingMessage, response: ServerResponse, state: RehearsalState) {
  const plan = FaultPlan.safeParse(await readJson(request))
  if (!plan.success) return answerError(response, 400, z.prettifyError(plan.error))
  state.drawFault = openFaultDraw(plan.data)
  return answerJson(response, 200, plan.data)
}

/** `POST /latency {"ms": 50}`: every answer from now on comes that much later. */
export async function setLatency(request: IncomingMessage, response: ServerResponse, state: RehearsalState) {
  const latency = Latency.safeParse(await readJson(request))
  if (!latency.success) return answerError(response, 400, z.prettifyError(latency.error))
  state.latencyMs = latency.data.ms
  return answerJson(response, 200, latency.data)
}

/** `POST /refusals {"named": true, "required": true}`: what a request may not ask for from now on; `{}` is nothing. */
export async function setRefusals(request: IncomingMessage, response: ServerResponse, state: RehearsalState) {
  const refusals = Refusals.safeParse(await readJson(request))
  if (!refusals.success) return answerError(response, 400, z.prettifyError(refusals.error))
  state.refusals = refusals.data
  return answerJson(response, 200, { refused: [...refusals.data] })
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  return parseJson((await readBody(request, maxBodyBytes)) ?? '')
}
