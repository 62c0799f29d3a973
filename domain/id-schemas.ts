import { z } from 'zod'

// The ids that cross HTTP; `ids.ts` makes them.

/** No `:` and never a bare integer: BullMQ builds job ids from them. */
const idPattern = /^[a-z][a-z0-9]{3,63}$/

export const RunId = z.string().regex(/^r[a-z0-9]{8,40}$/)
export type RunId = z.infer<typeof RunId>

export const OperationId = z.string().regex(/^o[0-9a-f]{16}$/)
export type OperationId = z.infer<typeof OperationId>

export const NodeId = z.string().regex(/^n[0-9a-f]{16}$/)
export type NodeId = z.infer<typeof NodeId>

/** Is of an agenda (domain/agenda.ts): unique within its run. */
export const ItemId = z.string().regex(/^[a-z][a-z0-9_-]{0,39}$/)
export type ItemId = z.infer<typeof ItemId>

/** Is what somebody asks about a run (store/ledger/asks.ts). */
export const AskId = z.string().regex(/^a[0-9a-f]{16}$/)
export type AskId = z.infer<typeof AskId>

export const TokenId = z.string().regex(/^t[0-9a-f]{16}$/)
export type TokenId = z.infer<typeof TokenId>

export const ProjectId = z.string().regex(idPattern)
export type ProjectId = z.infer<typeof ProjectId>
