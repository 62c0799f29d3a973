import v8 from 'node:v8'
import vm from 'node:vm'

/**
 * Collects garbage now. For the end of a stage that streamed more than the heap's own limits notice: what it left is given
 * back before the next stage asks for its own. Some 50 ms, in which nothing else runs.
 */
export function collectGarbage(): void {
  v8.setFlagsFromString('--expose-gc')
  const collect: unknown = vm.runInNewContext('gc')
  if (typeof collect === 'function') collect()
}
