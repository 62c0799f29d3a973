import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { mapBounded } from '#platform/map-bounded.ts'
import { measurePeer } from '../peers/measure-peer.ts'
import { type ChatRequest, text, tool } from '../peers/peer-agent.ts'
import { openUndiciPost } from '../peers/undici-post.ts'

// The least loop that writes docstrings: for each definition it reads the file, sends one request, puts the text where it
// belongs and writes the file to another folder. No queue, no ledger, no evidence, no second try, and several definitions of
// one file overwrite each other.

const DocstringWork = z.strictObject({ path: z.string(), startLine: z.int(), endLine: z.int() })
export type DocstringWork = z.infer<typeof DocstringWork>

const [url = '', folder = '', language = '', workFile = '', written = '', slots = '1'] = process.argv.slice(2)
const works = z.array(DocstringWork).parse(JSON.parse(await readFile(workFile, 'utf8')))
const name = 'write_docstring'
const fixed: Omit<ChatRequest, 'messages'> = {
  model: 'rehearsal',
  tools: [tool(name, 'Insert a docstring into the definition.', { docstring: text("The docstring's text") })],
  tool_choice: { type: 'function', function: { name } },
  temperature: 0,
  max_tokens: 512,
}
const system = 'You write the docstring of one piece of code. Say what it does, its parameters, and what it returns.'

let tokens = 0
const post = openUndiciPost(url, Number(slots), (used) => (tokens += used))

async function writeDocstring({ path, startLine, endLine }: DocstringWork): Promise<void> {
  const lines = (await readFile(join(folder, path), 'utf8')).split('\n')
  const code = lines.slice(startLine - 1, endLine).join('\n')
  const user = { role: 'user', content: `In ${path}:\n\n\`\`\`${language}\n${code}\n\`\`\`` } as const
  const reply = await post({ ...fixed, messages: [{ role: 'system', content: system }, user] })
  const { docstring = '' }: { docstring?: string } = JSON.parse(reply.tool_calls[0]?.function.arguments ?? '{}')
  const first = lines[startLine - 1] ?? ''
  const indent = /^\s*/.exec(first)?.[0] ?? ''
  if (language === 'python') lines.splice(startLine, 0, `${indent}    """${docstring}"""`)
  else lines.splice(startLine - 1, 0, `${indent}/** ${docstring} */`)
  const to = join(written, path)
  await mkdir(dirname(to), { recursive: true })
  await writeFile(to, lines.join('\n'))
}

await measurePeer(
  { agents: works.length, warmup: 0 },
  (numbers) => mapBounded(numbers, Number(slots), async (at) => works[at] && writeDocstring(works[at])),
  () => ({ tokens }),
)
