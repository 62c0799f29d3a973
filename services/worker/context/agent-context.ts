/** One thing an attempt did. Without `outcome` it is under way, or its answer is plain text. */
export type Action = {
  tool: string
  /** As the model sent them. */
  arguments: string
  outcome?: string
  errorCode?: string
  summary: string
}

/** How an operation ended that came before this one. */
export type EarlierResult = {
  agent: string
  nodeId: string
  /** What a person calls the node; undefined: it is the one this operation is about. */
  node: string | undefined
  status: string
  summary: string
  errorCode?: string
}

export type LastError = {
  /** The tool, `submit_result`, `model`, or `operation` for all of an earlier attempt. */
  of: string
  errorCode?: string
  reason: string
}

/** What is known before a turn of one operation, beside its conversation. */
export type AgentContext = {
  /** Undefined also when what failed has gone well since. */
  lastError: LastError | undefined
  /** Of this attempt, oldest first, the last `maxActions`; `before` is how many there were before them. */
  shortTrack: { actions: readonly Action[]; before: number }
  /** What tools have told in their `knowledge_delta`; of one key the last value, last learned last. */
  knowledge: ReadonlyMap<string, unknown>
  /** On this node and those it has to do with, closest first; of one agent on one node the last. */
  longTrack: readonly EarlierResult[]
}

/** Fewer than a small model can tell apart would help nobody; more would only be cut again. */
export const maxActions = 30

/** The first lines of a piece of code that the node has to do with. */
export type CodeExcerpt = {
  /** What it is to the node, in words: `Calls function price (src/util.py:10)`. */
  what: string
  language: string
  text: string
}

/** The closest first; `more` is how many there are besides. */
export type RelatedCode = { excerpts: readonly CodeExcerpt[]; more: number }
