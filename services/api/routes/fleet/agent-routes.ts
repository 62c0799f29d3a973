import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { OpenAPIHono } from '@hono/zod-openapi'
import { agentFolders, readSource } from '#bundles/bundle-files.ts'
import { mapBounded } from '#platform/map-bounded.ts'
import { AgentPage, type AgentView } from '#schemas/agent-schema.ts'
import type { ApiEnv } from '../../http/api-env.ts'
import { endpoint, jsonAnswer } from '../../http/endpoint.ts'

export const agentEndpoints = {
  list: endpoint('runs:read', [], {
    method: 'get',
    path: '/v1/agents',
    operationId: 'listAgents',
    summary: 'The agents that runs can have, with their bundles',
    responses: { 200: jsonAnswer('all of them, by name', AgentPage) },
  }),
} as const

/** `dir`: the folder of own agents, beside those that are shipped. */
export type AgentRouteDeps = { dir: string | undefined }

const filesAtOnce = 16
const maxFiles = 100
const maxCharacters = 100_000
/** The bundle, and the texts that it names. */
const shown = /\.(?:yaml|md|txt|pym|j2|njk|json)$/

export function agentRoutes({ dir }: AgentRouteDeps): OpenAPIHono<ApiEnv> {
  const routes = new OpenAPIHono<ApiEnv>()
  routes.openapi(agentEndpoints.list, async (c) => {
    const folders = await agentFolders(dir)
    return c.json({ agents: await mapBounded([...folders], 1, ([name, folder]) => agentView(name, folder)) }, 200)
  })
  return routes
}

async function agentView(name: string, folder: string): Promise<AgentView> {
  const entries = await readdir(folder, { recursive: true }).catch(() => [])
  const names = entries.filter((entry) => shown.test(entry) && !/^host(?:\/|$)/.test(entry)).toSorted()
  const files = await mapBounded(names.slice(0, maxFiles), filesAtOnce, async (file) => {
    const read = await readSource(join(folder, file))
    return { name: file, text: 'source' in read ? read.source.slice(0, maxCharacters) : read.fault }
  })
  const bundle = files.find((file) => file.name === 'bundle.yaml')?.text ?? ''
  return { name, description: /^description: *(.+)$/m.exec(bundle)?.[1] ?? null, files }
}
