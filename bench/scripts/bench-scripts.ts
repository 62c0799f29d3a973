/** The two scripts that every peer runs. */
export const benchScripts = {
  line: 'from grail import Input\nx: int = Input("x")\nx + 1\n',
  external:
    'from grail import Input, external\nx: int = Input("x")\n@external\nasync def step(n: int) -> int: ...\nawait step(x)\n',
} as const
export type BenchScript = keyof typeof benchScripts

/** Runs scripts one at a time or many at once; the host answers `step` with its argument. */
export type ScriptPeer = {
  run(script: BenchScript, x: number): Promise<unknown>
  close(): Promise<void>
}
