import { OpenAPIHono } from '@hono/zod-openapi'
import { AppError } from '#domain/error.ts'
import type { MemoryGate } from '#ledger/memory-gate.ts'
import type { ApiEnv } from '../http/api-env.ts'
import { runLinks } from '../runs/run-view.ts'
import { acceptRun, type AcceptDeps } from './accept-run.ts'
import { intakeEndpoints } from './intake-endpoints.ts'
import { maxRequestBytes, withRunForm } from './run-form.ts'
import type { UploadGate } from './upload-gate.ts'

/** Room for the request field and the multipart framing beside the archive. */
const framingBytes = maxRequestBytes + 64 * 1024
const traceparentForm = /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/

export type IntakeDeps = AcceptDeps & { memoryGate: MemoryGate; uploadGate: UploadGate }

/** Taking runs in. */
export function intakeRoutes(deps: IntakeDeps): OpenAPIHono<ApiEnv> {
  const routes = new OpenAPIHono<ApiEnv>()
  routes.openapi(intakeEndpoints.submit, async (c) => {
    refuseDeclaredSize(c.req.header('content-length'), deps.maxUploadBytes)
    await deps.memoryGate()
    const idempotencyKey = c.req.valid('header')['idempotency-key']
    const correlation = { requestId: c.get('requestId'), traceparent: traceparentOf(c.req.header('traceparent')) }
    const { projectId } = c.get('caller')
    const leave = await deps.uploadGate(c.req.raw.signal)
    try {
      const { runId, status } = await withRunForm(c.req.raw, (form) =>
        acceptRun({ ...form, projectId, idempotencyKey, correlation }, deps),
      )
      return c.json({ run_id: runId, status, links: runLinks(runId) }, 202)
    } finally {
      leave()
    }
  })
  return routes
}

/** An upload that says it is too large is refused before a byte of it is read. */
function refuseDeclaredSize(contentLength: string | undefined, maxUploadBytes: number): void {
  if (Number(contentLength ?? 0) <= maxUploadBytes + framingBytes) return
  throw new AppError('INTAKE_003', `The upload is larger than ${maxUploadBytes} bytes.`)
}

function traceparentOf(header: string | undefined): string | null {
  return header !== undefined && traceparentForm.test(header) ? header : null
}
