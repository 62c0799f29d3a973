import { rmSync, existsSync } from 'node:fs'
import { chmod } from 'node:fs/promises'
import { Socket } from 'node:net'
import { join } from 'node:path'
import { asAppError } from '#domain/error.ts'
import { environmentFolder, goModuleCache } from '#domain/setup.ts'
import { openSandbox } from '#sandbox/open-sandbox.ts'
import { type ProgramResult, type SandboxedProgram, workFolder } from '#sandbox/sandboxed-program.ts'
import { openRegistryProxy, type ProxyReport } from './registry-proxy.ts'
import { registryRules } from './registry-rules.ts'
import { IsolatedSetup, type IsolatedAnswer, isolatedDescriptors } from './run-isolated.ts'
import { ownNode, programPath } from '#sandbox/bubblewrap.ts'
import { goModules } from '#settings/setup-settings.ts'

/*
 * The process that runs one setup: the command in the sandbox, and the proxy, which is all that the command reaches. It was started
 * without a variable of the service's environment, and has no connection to a store. It ends with the service.
 */
process.once('message', (message) => {
  const setup = IsolatedSetup.parse(message)
  process.once('disconnect', () => {
    rmSync(setup.dir, { recursive: true, force: true })
    process.exit(0)
  })
  answerTo(setup).then(send, (error: unknown) => {
    const { code, message: reason } = asAppError(error, 'TOOL_004')
    send({ kind: 'fault', code, reason })
  })
})

function send(answer: IsolatedAnswer): void {
  process.send?.(answer, () => process.exit(0))
}

async function answerTo(setup: IsolatedSetup): Promise<IsolatedAnswer> {
  const isRoot = process.getuid?.() === 0
  if (isRoot) await chmod(setup.dir, 0o755) // the sandbox is started as nobody
  const path = join(setup.dir, 'registries')
  const rules = registryRules(setup.registries, setup.internalRegistries)
  const proxy = await openRegistryProxy({ path, rules, maxBytes: setup.maxDownloadBytes })
  const result = new Socket({ fd: isolatedDescriptors.result, readable: false })
  try {
    await chmod(path, 0o666)
    const sandbox = openSandbox({ ...setup.sandbox, places: 1 })
    const program = {
      command: setupProgram(setup.command, setup.hasPython),
      files: { base: async () => isolatedDescriptors.base },
      environment: setupVariables(setup.variables),
      mounts: [{ from: path, to: proxySocket }, ...certificateMounts()],
      folders: [environmentFolder],
      result,
      limits: setup.limits,
    }
    const ended = await sandbox.run(program, new AbortController().signal)
    return answerOf(ended, proxy.report())
  } finally {
    result.destroy()
    await proxy.close()
  }
}

const shownChars = 4_000

function answerOf({ ending, output, durationMs }: ProgramResult, proxy: ProxyReport): IsolatedAnswer {
  const common = { durationMs, hosts: proxy.hosts, refused: proxy.refused }
  if (ending.kind === 'exited' && ending.code === 0 && !proxy.isOverLimit) return { kind: 'made', ...common }
  const how = ending.kind === 'exited' ? `exit code ${ending.code}` : `it was stopped by its limit of ${ending.reason}`
  const over = proxy.isOverLimit ? ', and it downloaded more than setup.download_mb' : ''
  const refused = proxy.refused.length === 0 ? '' : `; not reached: ${proxy.refused.join(', ')}`
  return { kind: 'failed', reason: `${how}${over}${refused}`, output: output.slice(-shownChars), ...common }
}

/** The sandbox of a setup has the socket of the proxy here. */
const proxySocket = '/remora/registries'
const proxyPort = 3128
const readyFile = '/tmp/.remora-ready'

/** Listens in the sandbox, which has no network, and passes connections on to the socket. */
const forwarder = `
const { connect, createServer } = require('node:net')
createServer((client) => {
  const proxy = connect('${proxySocket}')
  for (const [from, to] of [[client, proxy], [proxy, client]]) {
    from.on('error', () => to.destroy())
    from.on('close', () => to.destroy())
    from.pipe(to)
  }
}).listen(${proxyPort}, '127.0.0.1', () => {
  connect('${proxySocket}', () => require('node:fs').writeFileSync('${readyFile}', '')).end()
})
`

/** Says when a package of the repository was copied: tests would never see a change. */
const copied = `remora: the setup installs a copy of the repository, so programs would not see its changes: install it editable (-e)`

/**
 * Runs the command, $1, with the registries to reach; first makes a virtual environment if $2 says that there is Python. Writes
 * the environment and what is new in the working folder to descriptor 6 as a tar. The command alone has the PATH of the setup:
 * what it installs must not replace what this script starts. A snapshot's files are of 1970, which no zip file, and so no wheel,
 * can hold.
 */
const script = `
path=$PATH
PATH=${programPath}
${ownNode} -e "$3" </dev/null >/dev/null 2>&1 6>&- &
forwarder=$!
until [ -e ${readyFile} ]; do
  kill -0 "$forwarder" 2>/dev/null || { echo 'remora: what passes connections on did not start'; exit 1; }
  sleep 0.02
done
rm ${readyFile}
list() { (cd / && find "$1" -print0 | LC_ALL=C sort -z); }
list workspace >/tmp/.remora-before
find . -type f -exec touch -d 2000-01-01 {} +
[ "$2" = no ] || python3 -m venv ${environmentFolder} >/tmp/.remora-venv 2>&1 6>&- || {
  cat /tmp/.remora-venv
  find ${environmentFolder} -mindepth 1 -delete
}
PATH=$path /bin/sh -c "$1" 6>&-
code=$?
kill "$forwarder" 2>/dev/null
[ "$code" -eq 0 ] || exit "$code"
for file in ${environmentFolder}/lib/python*/site-packages/*.dist-info/direct_url.json; do
  grep -qs '"url": *"file://${workFolder}' "$file" || continue
  grep -q '"editable": *true' "$file" || { echo '${copied}'; exit 1; }
done
list workspace >/tmp/.remora-after
{ list environment; LC_ALL=C comm -z -13 /tmp/.remora-before /tmp/.remora-after; } >/tmp/.remora-list
tar -C / --format=gnu --hard-dereference --null --no-recursion -T /tmp/.remora-list -cf - >&6
`

function setupProgram(command: string, hasPython: boolean): SandboxedProgram['command'] {
  return ['/bin/sh', '-c', script, 'sh', command, hasPython ? 'yes' : 'no', forwarder]
}

const certificateFiles = ['/etc/ssl/certs/ca-certificates.crt', '/etc/pki/tls/certs/ca-bundle.crt']
const certificatePlaces = ['/etc/ssl/certs', '/etc/ssl/openssl.cnf', '/etc/pki/tls/certs', '/etc/pki/ca-trust']

function certificateMounts(): { from: string; to: string }[] {
  return certificatePlaces.filter((path) => existsSync(path)).map((path) => ({ from: path, to: path }))
}

function setupVariables(own: Readonly<Record<string, string>>): Record<string, string> {
  const proxy = `http://127.0.0.1:${proxyPort}`
  const bundle = certificateFiles.find((path) => existsSync(path))
  const trusting = ['SSL_CERT_FILE', 'PIP_CERT', 'REQUESTS_CA_BUNDLE', 'NODE_EXTRA_CA_CERTS', 'npm_config_cafile']
  return {
    PATH: `${environmentFolder}/bin:${workFolder}/node_modules/.bin:${programPath}`,
    VIRTUAL_ENV: environmentFolder,
    ...Object.fromEntries(['http_proxy', 'https_proxy', 'HTTP_PROXY', 'HTTPS_PROXY'].map((name) => [name, proxy])),
    PIP_NO_CACHE_DIR: '1',
    PIP_DISABLE_PIP_VERSION_CHECK: '1',
    PIP_PROGRESS_BAR: 'off',
    GOPROXY: `https://${goModules[0]}`,
    GOMODCACHE: goModuleCache,
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    npm_config_update_notifier: 'false',
    ...(bundle === undefined ? {} : Object.fromEntries(trusting.map((name) => [name, bundle]))),
    ...own,
  }
}
