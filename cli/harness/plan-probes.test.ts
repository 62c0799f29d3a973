import { describe, expect, it } from 'vitest'
import { submitTool } from '#bundles/tool-definition.ts'
import { validateArguments } from '#tool-scripts/tool-arguments.ts'
import { planProbes } from './plan-probes.ts'
import { allShapes } from './shapes.ts'

const plan = (seed: number, requests = 20) => planProbes({ shapes: allShapes, requests, seed })

describe('the requests of the suite', () => {
  it('is the same for a seed, and another for another', () => {
    const prompts = (seed: number) => plan(seed).map(({ prompt }) => prompt)
    expect(prompts(7)).toEqual(prompts(7))
    expect(prompts(7)).not.toEqual(prompts(8))
    expect(plan(7, 3)).toEqual(plan(7, 20).slice(0, 3 * 28))
  })

  it('asks for other values in every request of a prompt, and for the same ones in each wording', () => {
    const ofShape = Map.groupBy(plan(1), ({ shape }) => shape)
    for (const shape of ['string', 'integer', 'float', 'list', 'object', 'two_tools']) {
      const probes = ofShape.get(shape) ?? []
      const values = new Set(probes.map(({ expected }) => JSON.stringify(expected)))
      expect(values.size, shape).toBeGreaterThan(12)
      for (const [number, same] of Map.groupBy(probes, (probe) => probe.number))
        expect(new Set(same.map(({ expected }) => JSON.stringify(expected))).size, `${shape} ${number}`).toBe(1)
    }
    expect(new Set(ofShape.get('two_tools')?.map(({ expected }) => expected.tool)).size).toBe(2)
  })

  it('expects only what the tools it offers take', () => {
    for (const { shape, tools, expected } of plan(3)) {
      const known = [...tools, submitTool].find(({ name }) => name === expected.tool)
      const needed = expected.tool === submitTool.name ? { summary: 'x' } : {}
      const checked = validateArguments(known?.parameters ?? {}, { ...needed, ...expected.arguments })
      expect(checked, shape).toEqual({ ok: true, args: { ...needed, ...expected.arguments } })
    }
  })
})
