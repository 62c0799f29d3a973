import { type Command, InvalidArgumentError } from 'commander'
import { ProjectId } from '#domain/ids.ts'
import type { CliContext } from '../cli-context.ts'
import { visible } from '../terminal-text.ts'
import { withRuns } from '../run/reach-service.ts'
import { shortTime } from '../wording.ts'

/** `remora project create|list`: the projects of the service. They need the operator's token. */
export function addProjectCommand(program: Command, context: CliContext): void {
  const projects = program.command('project').description('create and list projects, which see nothing of each other')
  projects
    .command('create')
    .description('create a project, unless it is there')
    .argument('<id>', projectForm, projectId)
    .option('--json', 'print one JSON document')
    .action(async (id: string, { json }: { json?: true }) => {
      const made = await withRuns(context, ({ client }) => client.createProject(id))
      const next = `"remora token create --project ${made.project_id}" makes a token of it`
      context.io.out(json ? `${JSON.stringify(made)}\n` : `${made.project_id}: ${next}\n`)
    })
  projects
    .command('list')
    .description('list projects')
    .option('--json', 'print one JSON document')
    .action(async ({ json }: { json?: true }) => {
      const page = await withRuns(context, ({ client }) => client.listProjects())
      const lines = page.projects.map((one) => `${one.project_id}${createdAt(one.created_at)}\n`)
      context.io.out(json ? `${JSON.stringify(page)}\n` : visible(lines.join('')))
    })
}

const projectForm = '4 to 64 lower-case letters and digits, a letter first'

function projectId(text: string): string {
  if (ProjectId.safeParse(text).success) return text
  throw new InvalidArgumentError(`It must be ${projectForm}.`)
}

function createdAt(time: string | null | undefined): string {
  return time ? `  created ${shortTime(time)}` : ''
}
