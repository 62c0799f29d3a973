/**
 * What a host function throws when the script is to see a Python exception, which it may catch. Any other error of a
 * host function is ours, ends the script and rejects the run. A type Python does not have is raised as RuntimeError.
 */
export class ScriptError extends Error {
  override readonly name = 'ScriptError'
  readonly pythonType: string

  constructor(pythonType: string, message: string) {
    super(message)
    this.pythonType = pythonType
  }
}
