import type { AgentPage as Agents, AgentView } from '#schemas/agent-schema.ts'
import type { z } from 'zod'
import { usePage } from '../page-context.ts'
import { LoadState, PageHead } from '../parts/shown.tsx'
import { useLoaded } from '../parts/use-loaded.ts'

type Listed = z.infer<typeof Agents>

/** Shows the agents that runs can have, each with its bundle, prompts and scripts as they are. */
export function AgentsPage() {
  const { connection } = usePage()
  const { value, error, again } = useLoaded('agents', (signal) => connection.json<Listed>('/v1/agents', { signal }))
  return (
    <>
      <PageHead title="Agents" />
      <LoadState {...{ value, error, again }} />
      <div class="stack">
        {value?.agents.map((agent) => (
          <AgentBox key={agent.name} agent={agent} />
        ))}
      </div>
    </>
  )
}

function AgentBox({ agent: { name, description, files } }: { agent: AgentView }) {
  return (
    <section class="box">
      <h2>{name}</h2>
      {description !== null && <p>{description}</p>}
      {files.map((file) => (
        <details key={file.name}>
          <summary class="mono">{file.name}</summary>
          <pre tabIndex={0}>{file.text}</pre>
        </details>
      ))}
    </section>
  )
}
