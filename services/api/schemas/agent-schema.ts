import { z } from 'zod'

const AgentFile = z
  .strictObject({ name: z.string().meta({ description: 'its path in the bundle' }), text: z.string() })
  .meta({ id: 'AgentFile' })

export const AgentView = z
  .strictObject({
    name: z.string(),
    description: z.string().nullable(),
    files: z.array(AgentFile).meta({ description: 'its bundle, its prompts and its tool scripts' }),
  })
  .meta({ id: 'Agent' })
export type AgentView = z.infer<typeof AgentView>

export const AgentPage = z.strictObject({ agents: z.array(AgentView) }).meta({ id: 'AgentPage' })
