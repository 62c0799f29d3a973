import { z } from 'zod'
import { OperationId, RunId } from '#domain/id-schemas.ts'
import { EventView } from './event-schema.ts'
import { OperationStatusShape, RunStatusShape } from './run-schema.ts'

const Position = z.string().meta({ description: 'what `after` and `Last-Event-ID` take' })

const controlFrames = [
  z
    .strictObject({
      type: z.literal('connected'),
      seq: z.int().optional().meta({ description: "number of the run's last event" }),
      id: Position.optional().meta({ description: 'of all runs, and of a conversation: your position' }),
      missed: z.int().min(0).meta({ description: 'how many events follow the position; they are sent first' }),
    })
    .meta({ id: 'ConnectedFrame' }),
  z
    .strictObject({
      type: z.literal('resync').meta({ description: 'the position is not in the log; nothing more is sent' }),
      after: Position,
      first: Position.meta({ description: 'the first event that there is' }),
      last: Position.meta({ description: 'the last one' }),
    })
    .meta({ id: 'ResyncFrame' }),
  z
    .strictObject({
      type: z.literal('end'),
      run_id: RunId,
      operation_id: OperationId.optional().meta({ description: 'of the stream of a conversation' }),
      status: z
        .union([RunStatusShape, OperationStatusShape])
        .meta({ id: 'StatusAtEnd', description: 'of the run, or of the operation' }),
    })
    .meta({ id: 'EndFrame' }),
  z
    .strictObject({
      type: z.literal('ping'),
      id: Position.optional().meta({ description: 'of the last event that was read, also of other categories' }),
    })
    .meta({ id: 'PingFrame' }),
  z.strictObject({ type: z.literal('pong') }).meta({ id: 'PongFrame' }),
] as const

/** Makes the schema of the frames of a stream that tells `event`. `connected` or `resync` is the first, and says what became of the reader's position. */
export function frameOf<E extends z.ZodType>(event: E, names: { frame: string; event: string }) {
  const EventFrame = z.strictObject({ type: z.literal('event'), id: Position, event }).meta({ id: names.event })
  return z.discriminatedUnion('type', [EventFrame, ...controlFrames]).meta({
    id: names.frame,
    description:
      'what a stream sends: of a WebSocket each is a message; of Server-Sent Events `type` is the name of the event (none for `event`), `id` its id, and the rest its data',
  })
}

export const Frame = frameOf(EventView, { frame: 'Frame', event: 'EventFrame' })
export type Frame = z.infer<typeof Frame>
