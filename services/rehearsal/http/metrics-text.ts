/** `running`: turns being answered; `asked`: turns asked for, whatever came of it; `requests`: those answered. */
export type Counts = {
  running: number
  asked: number
  requests: number
  promptTokens: number
  generationTokens: number
}

/** The counts in Prometheus' text format under the names vLLM uses, so that routing and dashboards need no other case. */
export function metricsText(counts: Counts): string {
  const metric = (name: string, type: 'gauge' | 'counter', value: number) =>
    `# TYPE vllm:${name} ${type}\nvllm:${name}{model_name="rehearsal"} ${value}\n`
  return [
    metric('num_requests_running', 'gauge', counts.running),
    metric('num_requests_waiting', 'gauge', 0), // every request is answered at once, none waits
    metric('request_success_total', 'counter', counts.requests),
    metric('prompt_tokens_total', 'counter', counts.promptTokens),
    metric('generation_tokens_total', 'counter', counts.generationTokens),
  ].join('')
}
