import { booleanShape } from './boolean-shape.ts'
import { enumShape } from './enum-shape.ts'
import { floatShape } from './float-shape.ts'
import { integerShape } from './integer-shape.ts'
import { irrelevantShape } from './irrelevant-shape.ts'
import { listShape } from './list-shape.ts'
import { objectShape } from './object-shape.ts'
import type { Shape } from './shape.ts'
import { stringShape } from './string-shape.ts'
import { twoToolsShape } from './two-tools-shape.ts'

/** In the order of the report. */
export const allShapes: readonly Shape[] = [
  stringShape,
  integerShape,
  floatShape,
  booleanShape,
  enumShape,
  listShape,
  objectShape,
  twoToolsShape,
  irrelevantShape,
]
