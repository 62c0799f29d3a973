/**
 * A stub (`.pyi`) has other rules than a module, which Ruff's wasm build cannot be told; docstrings stay in the module.
 */
export function isStub(path: string): boolean {
  return path.toLowerCase().endsWith('.pyi')
}
