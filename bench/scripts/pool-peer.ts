import { compileScript } from '#tool-scripts/compiled-script.ts'
import { openScriptPool } from '#tool-scripts/script-pool.ts'
import { benchScripts, type ScriptPeer } from './bench-scripts.ts'

/** Scripts of one operation, which share its signal. */
const runsPerSignal = 50

/** The whole pool as a worker uses it, with a listener for its events. */
export async function openPoolPeer(size: number): Promise<ScriptPeer> {
  const pool = openScriptPool({ size })
  let { signal } = new AbortController()
  const scripts = {
    line: await compileScript({ path: 'line.pym', source: benchScripts.line }),
    external: await compileScript({ path: 'external.pym', source: benchScripts.external }),
  }
  const externals = { step: ([n]: unknown[]) => n }
  let events = 0
  const onEvent = (): void => {
    events += 1
  }
  return {
    async run(script, x) {
      if (x % runsPerSignal === 0) signal = new AbortController().signal
      const ending = await pool.run(scripts[script], { inputs: { x }, externals, onEvent }, signal)
      if (ending.kind !== 'returned' || events === 0) throw new Error(JSON.stringify(ending))
      return ending.value
    },
    close: () => pool.close(),
  }
}
