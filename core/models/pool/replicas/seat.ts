import type { Replica, Visit } from './replica.ts'

/** A place at a replica, for one request. What its visit comes to is seen by those that wait. */
export type Seat = Visit & { replica: Replica }
