import { z } from 'zod'
import { openSandbox } from './open-sandbox.ts'
import { usualLimits } from './sandbox.fixture.ts'

/** A process that runs a shell script in a container, and waits for it. */
const Asked = z.object({
  image: z.string(),
  searchPath: z.string(),
  env: z.record(z.string(), z.string()),
  script: z.string(),
})

const { script, ...options } = Asked.parse(JSON.parse(process.argv[2] ?? ''))
const sandbox = openSandbox({ ...options, runtime: 'container' })
await sandbox.run({ command: ['sh', '-c', script], files: {}, limits: usualLimits }, new AbortController().signal)
