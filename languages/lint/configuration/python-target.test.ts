import { expect, it } from 'vitest'
import { targetOfRequirement } from './python-target.ts'

it.each([
  ['>=3.9', 'py39'],
  ['>= 3.10, != 3.10.1, <4', 'py310'],
  ['~=3.8', 'py38'],
  ['==3.12.*', 'py312'],
  ['>3.11', 'py311'],
  ['<4,>=3.13.2', 'py313'],
  ['>=2.7, !=3.0.*', undefined],
  ['>=3.6', undefined],
  ['>=3', undefined],
  ['<3.12', undefined],
])('a project that requires %s is linted for %s', (requirement, target) => {
  expect(targetOfRequirement(requirement)).toBe(target)
})
