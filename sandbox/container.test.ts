import { expect, it } from 'vitest'
import { bubblewrapArgs } from './bubblewrap.ts'
import { containerArgs, type ContainerEngine } from './container.ts'
import { usualLimits } from './sandbox.fixture.ts'
import type { SandboxedProgram } from './sandboxed-program.ts'

const engine: ContainerEngine = { name: 'docker', path: 'docker', env: {}, image: 'image', paths: ['/opt/tools'] }
const program = { command: ['true'] as const, files: {}, limits: usualLimits }
const argsOf = (more: Partial<SandboxedProgram>, other: Partial<ContainerEngine> = {}) =>
  containerArgs(
    { ...program, ...more },
    { ...engine, ...other },
    { name: 'a', label: 'b', bytes: { base: 0, changes: 0 }, seccompFile: undefined },
  )

it.each(['/x,source=/etc,target=/y', '/a:b', '/a=b', '/"a', '/a\nb'])('a container is not started with %j', (path) => {
  const refused = expect.objectContaining({ code: 'TOOL_005' })
  expect(() => argsOf({ mounts: [{ from: path, to: '/to' }] })).toThrow(refused)
  expect(() => argsOf({ mounts: [{ from: '/from', to: path }] })).toThrow(refused)
  expect(() => argsOf({ folders: [path] })).toThrow(refused)
  expect(() => argsOf({}, { paths: [path] })).toThrow(refused)
})

it('all folders of a program together have no more than its working folder', () => {
  const folders = Array.from({ length: 600 }, (_, at) => `/workspace/${at}`)
  const sizeOf = (args: readonly string[]) =>
    folders.reduce((sum, folder) => {
      const inContainer = args.find((arg) => arg.startsWith(`${folder}:rw`))
      const size = inContainer?.match(/size=(\d+)/)?.[1] ?? args[args.indexOf(folder) - 4]
      return sum + Number(size)
    }, 0)
  for (const args of [argsOf({ folders }), bubblewrapArgs({ ...program, folders }, [])]) {
    expect(sizeOf(args)).toBeGreaterThan(usualLimits.diskBytes * 0.99)
    expect(sizeOf(args)).toBeLessThan(usualLimits.diskBytes * 1.01)
  }
})
