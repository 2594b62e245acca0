import { describe, expect, it } from 'vitest'
import type { ResourceInfo } from '../registry/resource-info.ts'
import { validateScaleValues } from './scale-values.ts'

// Only the paths are read.
const info = {
  scalePaths: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
} as ResourceInfo

describe('replica counts', () => {
  it('are never negative nor too large', () => {
    const errors = validateScaleValues(info, { spec: { replicas: -1 }, status: { replicas: 2 ** 31 } })
    expect(errors.map(({ field, message }) => `${field}: ${message}`)).toEqual([
      '.spec.replicas: Invalid value: -1: should be a non-negative integer',
      '.status.replicas: Invalid value: 2147483648: should be less than or equal to 2147483647',
    ])
  })

  it('may be absent, and are checked only for kinds with a scale subresource', () => {
    expect(validateScaleValues(info, { spec: {} })).toEqual([])
    expect(validateScaleValues({} as ResourceInfo, { spec: { replicas: -1 } })).toEqual([])
  })
})
