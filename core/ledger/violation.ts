/** The invariants of a run's accounting that its ledger alone can prove; docs/decisions names them. */
export type Invariant = 1 | 2 | 3 | 4 | 5 | 6

/** One broken promise, in words an operator can act on. */
export type Violation = { invariant: Invariant; message: string }
