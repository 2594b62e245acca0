import { describe, it } from 'vitest'
import { stringify } from 'yaml'
import { expectGolden } from '../../controllers/rendering/testing/golden.ts'
import { inject } from './testing/build.ts'
import { caseInput, goldenCases, titleOf, WORKLOADS } from './testing/golden-cases.ts'

describe('injected pods are as reviewed', () => {
  const cases = goldenCases()
  it.each(WORKLOADS)('of a %s', async (workload) => {
    const pods = cases
      .filter((of) => of.workload === workload)
      .map((of) => {
        const { input, facts } = caseInput(of)
        const pod = stringify(inject(input, facts).pod, { lineWidth: 0, aliasDuplicateObjects: false })
        return `# ${titleOf(of)}\n${pod}`
      })
    await expectGolden(pods.join('---\n'), new URL(`golden/${workload}.yaml`, import.meta.url))
  })
})
