/** The invariants of a run's accounting. The ledger alone can prove 1 to 6; docs/decisions names them. */
export type Invariant = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8

/** One broken promise, in words an operator can act on. */
export type Violation = { invariant: Invariant; message: string }
