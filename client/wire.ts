import type { RunAgenda } from '#schemas/agenda-schema.ts'
import type { AskView } from '#schemas/ask-schema.ts'
import type { DecisionsBody, DecisionsView } from '#schemas/decision-schema.ts'
import type { EventCategoryShape, EventView } from '#schemas/event-schema.ts'
import type { Frame as FrameView } from '#schemas/frame-schema.ts'
import type { ApprovalAnswerShape, QuestionView } from '#schemas/question-schema.ts'
import type { RunView } from '#schemas/run-schema.ts'
import type { RepositoryRunBody, RunRequestBody } from '#schemas/run-request-schema.ts'
import type { z } from 'zod'

// What crosses HTTP, under the names that it has in the OpenAPI document: in the package, the types are made of that document instead
// (scripts/build-client.ts), since these need zod.

export type Run = RunView
export type Event = EventView
export type Frame = FrameView
export type EventName = EventView['event']
export type EventCategory = z.infer<typeof EventCategoryShape>
export type Question = QuestionView
export type ApprovalAnswer = z.infer<typeof ApprovalAnswerShape>
export type RunRequest = RunRequestBody
export type RepositoryRunRequest = z.input<typeof RepositoryRunBody>
export type Agenda = RunAgenda
export type Ask = AskView
export type DecisionsRequest = DecisionsBody
export type Decisions = DecisionsView
