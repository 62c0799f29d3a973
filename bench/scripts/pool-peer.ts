import { compileScript } from '#tool-scripts/compiled-script.ts'
import { openScriptPool } from '#tool-scripts/script-pool.ts'
import { benchScripts, type ScriptPeer } from './bench-scripts.ts'

/** The whole pool, as a worker uses it. */
export async function openPoolPeer(size: number): Promise<ScriptPeer> {
  const pool = openScriptPool({ size })
  const { signal } = new AbortController()
  const scripts = {
    line: await compileScript({ path: 'line.pym', source: benchScripts.line }),
    external: await compileScript({ path: 'external.pym', source: benchScripts.external }),
  }
  const externals = { step: ([n]: unknown[]) => n }
  return {
    async run(script, x) {
      const ending = await pool.run(scripts[script], { inputs: { x }, externals }, signal)
      if (ending.kind !== 'returned') throw new Error(JSON.stringify(ending))
      return ending.value
    },
    close: () => pool.close(),
  }
}
