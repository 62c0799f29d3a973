import { expect, it } from 'vitest'
import { testSandbox, usualLimits } from '#sandbox/sandbox.fixture.ts'
import { openToolchain } from './setup-service.ts'

const { sandbox, lack } = await testSandbox(process.env)

it.skipIf(lack !== undefined)(`the toolchain is known whole or not at all (${lack ?? 'bubblewrap'})`, async () => {
  expect(await openToolchain(sandbox, usualLimits)()).toContain(process.version)
  const cut = openToolchain(sandbox, { ...usualLimits, wallMs: 1 })
  await expect(cut()).rejects.toMatchObject({ code: 'TOOL_005' })
})
