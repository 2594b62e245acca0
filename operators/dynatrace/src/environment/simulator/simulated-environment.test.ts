import { SimulatedClock } from '@reeve/runtime/testing'
import { expect, it } from 'vitest'
import { createEnvironmentClient } from '../client/environment-client.ts'
import { SimulatedEnvironment } from './simulated-environment.ts'

function stage() {
  const clock = new SimulatedClock()
  const environment = new SimulatedEnvironment({ tenants: [{ id: 'abc12345', tenantToken: 'SECRET' }], clock })
  const apiToken = environment.tenant('abc12345').tokens.get('apiToken')?.value ?? ''
  const apiUrl = environment.url('abc12345')
  const client = createEnvironmentClient({ apiUrl, apiToken, clock, sender: environment.sender, env: {} })
  return { clock, environment, client }
}

it('answers clients in the same process without a socket, and writes their calls down', async () => {
  const { clock, environment, client } = stage()
  const info = await client.connectionInfo.oneAgent()
  expect(info).toMatchObject({ tenantUuid: 'abc12345', tenantToken: 'SECRET' })
  const { token } = await client.tokens.createForActiveGate('shop')
  expect(token).toMatch(/^dt0g02\./)
  expect(environment.calls().map(({ operation, status, receivedMs }) => [operation, status, receivedMs])).toEqual([
    ['agent-connection-info', 200, clock.now()],
    ['active-gate-token', 201, clock.now()],
  ])
})

it('goes on after a client is closed: others share it', async () => {
  const { environment, client } = stage()
  await client.close()
  expect((await client.connectionInfo.activeGate()).tenantUuid).toBe('abc12345')
  expect(environment.calls()).toHaveLength(1)
})

it.each([
  { afterBytes: undefined, status: 0 },
  { afterBytes: 10, status: 200 },
])('breaks answers off where trouble wants that (after $afterBytes bytes)', async ({ afterBytes, status }) => {
  const { clock, environment, client } = stage()
  environment.trouble.add({ kind: 'cut', times: 1, ...(afterBytes !== undefined && { afterBytes }) })
  const info = client.connectionInfo.activeGate()
  // The client tries again after a pause.
  expect((await clock.runToCompletion(info)).tenantUuid).toBe('abc12345')
  expect(environment.calls().map((call) => call.status)).toEqual([status, 200])
})
