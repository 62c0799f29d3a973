import { z } from 'zod'
import { AppError } from '#domain/error.ts'
import { sha256 } from '#domain/ids.ts'
import {
  accountOf,
  actedOn,
  bodyReaders,
  type Delivery,
  type DeliveryBody,
  DeliveredRepository,
  DeliveryHeaders,
  kindsInRepository,
  name,
  User,
} from './delivery.ts'

const mostFaults = 2_000

/** The tables themselves are not asked, since any object has a `constructor`. */
const readers = new Map<string, z.ZodType<DeliveryBody>>(Object.entries(bodyReaders))
const onlyActions = new Map<string, readonly string[]>(Object.entries(actedOn))

/** The repository of an event on which nobody acts may be of another shape. */
const Envelope = z.object({
  action: name.nullish(),
  installation: z.object({ id: z.int() }).nullish(),
  sender: User.nullish(),
  repository: z.unknown().optional(),
})

/** Reduces a webhook to what somebody acts on. INTAKE_008 names every field at fault, of the headers or of the payload. */
export function deliveryOf(
  { deliveryId, event }: { deliveryId: string | undefined; event: string | undefined },
  payload: unknown,
): Delivery {
  const known = {
    deliveryId: read('X-GitHub-Delivery', DeliveryHeaders.shape.deliveryId, deliveryId),
    event: read('X-GitHub-Event', DeliveryHeaders.shape.event, event),
  }
  const { action = null, installation, sender, repository } = read('body', Envelope, payload)
  const reader = isActedOn(known.event, action) ? readers.get(known.event) : undefined
  const body = reader === undefined ? { kind: 'other' as const, action } : read('body', reader, payload)
  const needsRepository = kindsInRepository.some((kind) => kind === body.kind)
  return {
    ...known,
    bodyHash: sha256(JSON.stringify(payload)),
    installationId: installation?.id ?? null,
    repository: needsRepository
      ? read('body.repository', DeliveredRepository, repository)
      : (DeliveredRepository.safeParse(repository).data ?? null),
    sender: sender ? accountOf(sender) : null,
    body,
  }
}

function isActedOn(event: string, action: string | null): boolean {
  const only = onlyActions.get(event)
  return only === undefined || (action !== null && only.includes(action))
}

function read<Schema extends z.ZodType>(what: string, schema: Schema, value: unknown): z.output<Schema> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const faults = parsed.error.issues.map((issue) => `${[what, ...issue.path].join('.')}: ${issue.message}`)
  throw new AppError('INTAKE_008', faults.join('; ').slice(0, mostFaults))
}
