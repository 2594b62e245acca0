/** Features that the embedded cluster does not implement are not accepted silently. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { InProcess } from './support/in-process.ts'

let cluster: InProcess
beforeAll(async () => {
  cluster = await InProcess.start()
})
afterAll(() => cluster.stop())

describe('a resource without effect', () => {
  test.each([
    ['a flow schema', '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas', 'requests are not queued by priority'],
  ])('is stored with a warning: %s', async (_, path, why) => {
    const spec = { priorityLevelConfiguration: { name: 'exempt' } }
    const created = await cluster.send('POST', path, { metadata: { name: 'idle' }, spec })
    expect(created.status).toBe(201)
    expect(String(created.headers.warning)).toContain(`but does not act on them: ${why}`)
    expect((await cluster.send('GET', `${path}/idle`)).headers.warning).toBeUndefined()
  })
})
