import type { Command } from 'commander'
import type { CliContext } from './cli-context.ts'

/** Gives a command its arguments, its options and its action. `whole` makes a program of all commands but those of completion. */
export type Fill = (command: Command, context: CliContext, whole: () => Promise<Command>) => void

export type ListedCommand = { form: string; about: string; load(): Promise<Fill> }

/**
 * The commands as the help lists them. What a command needs is loaded when it is called, so that none pays for the others;
 * `form` repeats its arguments for that reason.
 */
export const commandList: readonly ListedCommand[] = [
  {
    form: 'run [options] [path]',
    about: 'run agents over a folder, a git checkout or an archive, and write the patch they propose',
    load: async () => (await import('./commands/run-command.ts')).addRunCommand,
  },
  {
    form: 'up [options]',
    about: 'run the whole service on this machine, in the foreground',
    load: async () => (await import('./commands/up-command.ts')).addUpCommand,
  },
  {
    form: 'dashboard [options]',
    about: 'serve the page on this machine for the service that REMORA_API_URL names, in the foreground',
    load: async () => (await import('./commands/dashboard-command.ts')).addDashboardCommand,
  },
  {
    form: 'submit [options] [path]',
    about: 'send a folder, a git checkout or an archive to a running service, or have it fetch a repository',
    load: async () => (await import('./commands/submit-command.ts')).addSubmitCommand,
  },
  {
    form: 'watch [options] <run>',
    about: 'follow a run of a running service to its end; the exit codes are those of run',
    load: async () => (await import('./commands/watch-command.ts')).addWatchCommand,
  },
  {
    form: 'runs [options]',
    about: 'list runs, newest first',
    load: async () => (await import('./commands/list-commands.ts')).addRunsCommand,
  },
  {
    form: 'show [options] <run>',
    about: 'show the state of a run, or how it ended',
    load: async () => (await import('./commands/show-command.ts')).addShowCommand,
  },
  {
    form: 'diff [options] <run> [operation...]',
    about:
      'print the proposed patch of a run, or what one operation, or all in a file, changed, also if it was left out of the patch',
    load: async () => (await import('./commands/diff-command.ts')).addDiffCommand,
  },
  {
    form: 'findings [options] <run>',
    about: 'print what the agents of a run have found: path, line, claim and how sure they are',
    load: async () => (await import('./commands/list-commands.ts')).addFindingsCommand,
  },
  {
    form: 'review [options] <run>',
    about: 'look at the changes of a run one after the other in a terminal, and accept or reject each with a key',
    load: async () => (await import('./commands/review-command.ts')).addReviewCommand,
  },
  {
    form: 'accept [options] <run> [operation...]',
    about: 'accept change sets of a run: those of an operation or of a file, some or all',
    load: async () => (await import('./commands/decide-command.ts')).decideCommand('accept'),
  },
  {
    form: 'reject [options] <run> [operation...]',
    about: 'reject change sets of a run, and say why',
    load: async () => (await import('./commands/decide-command.ts')).decideCommand('reject'),
  },
  {
    form: 'undo [options] <run> [operation...]',
    about: 'take back what was decided on change sets of a run: they are pending again',
    load: async () => (await import('./commands/decide-command.ts')).decideCommand('undo'),
  },
  {
    form: 'apply [options] <run>',
    about: 'put the accepted changes of a run into a folder, merged with what has changed there since',
    load: async () => (await import('./commands/apply-command.ts')).addApplyCommand,
  },
  {
    form: 'publish [options] <run>',
    about:
      'ask for the pull request of what is accepted, or push it to a branch of a git repository, one commit for each agent',
    load: async () => (await import('./commands/publish-command.ts')).addPublishCommand,
  },
  {
    form: 'transcript [options] <run> <operation...>',
    about: 'print the whole conversation of one operation: prompts, replies, tool calls, times, tokens, errors',
    load: async () => (await import('./commands/transcript-command.ts')).addTranscriptCommand,
  },
  {
    form: 'answer [options] <run> [request] [text...]',
    about: 'list what the agents of a run ask, or answer it',
    load: async () => (await import('./commands/steer-commands.ts')).addAnswerCommand,
  },
  {
    form: 'approve [options] <run> [hash]',
    about: 'show the plan of a run with an objective, and approve it: then it is done',
    load: async () => (await import('./commands/objective-commands.ts')).addApproveCommand,
  },
  {
    form: 'say [options] <run> <text...>',
    about: 'add to the objective of a run while it goes on',
    load: async () => (await import('./commands/objective-commands.ts')).addSayCommand,
  },
  {
    form: 'ask [options] <run> <text...>',
    about: 'ask a model about a run, which may have ended: it answers from what has happened in it',
    load: async () => (await import('./commands/objective-commands.ts')).addAskCommand,
  },
  {
    form: 'why [options] <run> [item]',
    about: 'say from which decision an item of a plan, or an operation, comes, and what that decision knew',
    load: async () => (await import('./commands/objective-commands.ts')).addWhyCommand,
  },
  {
    form: 'cancel [options] <run>',
    about: 'stop a run: no more of it is started, and what is running is aborted',
    load: async () => (await import('./commands/steer-commands.ts')).addCancelCommand,
  },
  {
    form: 'budget [options] <run>',
    about: 'show or set how many tokens a run may use; one that waits for more goes on',
    load: async () => (await import('./commands/steer-commands.ts')).addBudgetCommand,
  },
  {
    form: 'retry [options] <run> [operations...]',
    about:
      'try again what failed in a run that has ended, what was rejected with a reason, or the operations you name; the run goes on',
    load: async () => (await import('./commands/run-command.ts')).addRetryCommand,
  },
  {
    form: 'delete [options] <run>',
    about: 'delete a run that has ended: its upload, records, events, and files that no other run has',
    load: async () => (await import('./commands/steer-commands.ts')).addDeleteCommand,
  },
  {
    form: 'token',
    about: 'make, list and revoke tokens for the API',
    load: async () => (await import('./commands/token-command.ts')).addTokenCommand,
  },
  {
    form: 'project',
    about: 'create and list projects, which see nothing of each other, and say what they may use',
    load: async () => (await import('./commands/project-command.ts')).addProjectCommand,
  },
  {
    form: 'github',
    about: "the service's GitHub App: make it, its installations and webhooks",
    load: async () => (await import('./commands/github-command.ts')).addGithubCommand,
  },
  {
    form: 'workers [options]',
    about: 'list the workers that live, with their slots and model servers',
    load: async () => (await import('./commands/list-commands.ts')).addWorkersCommand,
  },
  {
    form: 'usage [options]',
    about: 'show tokens and time by day, agent or project',
    load: async () => (await import('./commands/list-commands.ts')).addUsageCommand,
  },
  {
    form: 'verify [options] <run>',
    about: "check a run's state against its events and objects; exit code 1 on any violation",
    load: async () => (await import('./commands/verify-command.ts')).addVerifyCommand,
  },
  {
    form: 'config [options]',
    about: 'print the effective settings, each with its source',
    load: async () => (await import('./commands/config-command.ts')).addConfigCommand,
  },
  {
    form: 'discover [options] [path]',
    about: 'find the code nodes of a folder, in process',
    load: async () => (await import('./commands/discover-command.ts')).addDiscoverCommand,
  },
  {
    form: 'doctor [options]',
    about:
      'check what Remora needs on this machine and say how to get what is missing; exit code 1 when something needed is missing',
    load: async () => (await import('./commands/doctor-command.ts')).addDoctorCommand,
  },
  {
    form: 'agents [options]',
    about: 'list the agents: what each does, on which nodes, with which tools and limits',
    load: async () => (await import('./commands/list-commands.ts')).addAgentsCommand,
  },
  {
    form: 'check [options] [path...]',
    about: 'check agent bundles and tool scripts; exit code 1 on any fault',
    load: async () => (await import('./commands/check-command.ts')).addCheckCommand,
  },
  {
    form: 'tool',
    about: 'try a tool script, in process',
    load: async () => (await import('./commands/tool-command.ts')).addToolCommand,
  },
  {
    form: 'harness [options]',
    about: "measure a model's tool calling; exit code 1 when it calls tools too rarely",
    load: async () => (await import('./commands/harness-command.ts')).addHarnessCommand,
  },
  {
    form: 'queries',
    about: 'check, list and record the query packs; look at syntax trees',
    load: async () => (await import('./commands/discover-command.ts')).addQueriesCommand,
  },
]

export const completionCommand: ListedCommand = {
  form: 'completion <shell>',
  about: 'print the script that completes commands, options, agents and paths in a shell',
  load: async () => (await import('./commands/completion-command.ts')).addCompletionCommand,
}

/** Is called by the scripts of `completion` at TAB, and not listed. */
export const completeCommand: ListedCommand = {
  form: 'complete',
  about: '',
  load: async () => (await import('./commands/completion-command.ts')).addCompleteCommand,
}
