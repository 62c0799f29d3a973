import type { OperationStatus } from '#domain/operation.ts'

/** What changes an operation's state: a command of the ledger. `notified` stands for any command that ends an operation this one waits for. */
export type TransitionCause =
  | 'plan'
  | 'notified'
  | 'dispatch'
  | 'requeue'
  | 'claim'
  | 'settle'
  | 'release'
  | 'suspend'
  | 'resume'
  | 'await tool'
  | 'sweep'
  | 'block held'
  | 'end slice'

export type Transition = { from: OperationStatus | 'new'; to: OperationStatus; by: readonly TransitionCause[] }

/**
 * Every way of an operation from state to state, as the state diagram of ARCHITECTURE.md draws it. The model of the
 * ledger takes no other, and the ledger takes each.
 */
export const operationTransitions: readonly Transition[] = [
  { from: 'new', to: 'pending', by: ['plan'] },
  { from: 'new', to: 'ready', by: ['plan'] },
  { from: 'pending', to: 'ready', by: ['notified'] },
  { from: 'pending', to: 'skipped', by: ['notified'] },
  { from: 'pending', to: 'cancelled', by: ['end slice'] },
  { from: 'ready', to: 'dispatched', by: ['dispatch'] },
  { from: 'ready', to: 'cancelled', by: ['end slice'] },
  { from: 'ready', to: 'blocked', by: ['block held'] },
  { from: 'dispatched', to: 'dispatched', by: ['requeue'] },
  { from: 'dispatched', to: 'running', by: ['claim'] },
  { from: 'dispatched', to: 'cancelled', by: ['claim', 'end slice'] },
  { from: 'running', to: 'ready', by: ['release', 'sweep'] },
  { from: 'running', to: 'waiting', by: ['suspend'] },
  { from: 'running', to: 'succeeded', by: ['settle'] },
  { from: 'running', to: 'unchanged', by: ['settle'] },
  { from: 'running', to: 'skipped', by: ['settle'] },
  { from: 'running', to: 'failed', by: ['settle', 'sweep'] },
  { from: 'running', to: 'blocked', by: ['settle'] },
  { from: 'running', to: 'cancelled', by: ['settle', 'release', 'suspend', 'sweep'] },
  { from: 'waiting', to: 'ready', by: ['resume', 'await tool', 'sweep'] },
  { from: 'waiting', to: 'failed', by: ['sweep'] },
  { from: 'waiting', to: 'blocked', by: ['sweep'] },
  { from: 'waiting', to: 'cancelled', by: ['end slice'] },
]
