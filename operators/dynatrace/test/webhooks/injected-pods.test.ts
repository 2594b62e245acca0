/** Generated pods before an API server. */
import { expect, it } from 'vitest'
import { judgeInjectedPods } from './support/judge-pods.ts'

/** More of them in `injected-pods.thorough.test.ts`. */
const PODS = 150

it('the API server accepts every injected pod that it accepts without injection', async () => {
  const { injected, rejections } = await judgeInjectedPods(PODS)
  expect(rejections).toEqual([])
  expect(injected).toBeGreaterThan(PODS / 4)
})
