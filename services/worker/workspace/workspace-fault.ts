/** What a tool asked of the workspace and cannot have; the model can do something about it, so it is told. */
export class WorkspaceFault extends Error {
  override readonly name = 'WorkspaceFault'
  readonly kind: 'not-found' | 'not-text' | 'too-large' | 'refused'

  constructor(kind: WorkspaceFault['kind'], message: string, options: { cause?: unknown } = {}) {
    super(message, options)
    this.kind = kind
  }
}
