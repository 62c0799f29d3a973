const transports = ['ssh', 'git', 'http', 'https', 'file', 'ext']

/**
 * What git is told before a command in somebody else's repository, whose own settings may name programs for it to start,
 * and servers to get from what the repository lacks: nothing of that happens.
 */
export const gitSettings: readonly string[] = [
  'core.fsmonitor=false',
  'core.hooksPath=/dev/null',
  'core.sshCommand=false',
  'core.gitProxy=false',
  'protocol.allow=never',
  ...transports.map((name) => `protocol.${name}.allow=never`),
].flatMap((setting) => ['-c', setting])
