import { SimulatedClock } from '@reeve/http/testing'
import { expect, it } from 'vitest'
import { createTenantClient } from '../client/tenant-client.ts'
import { SimulatedTenants } from './simulated-tenants.ts'

function stage() {
  const clock = new SimulatedClock()
  const simulator = new SimulatedTenants({ tenants: [{ id: 'abc12345', tenantToken: 'SECRET' }], clock })
  const apiToken = simulator.tenant('abc12345').tokens.get('apiToken')?.value ?? ''
  const apiUrl = simulator.url('abc12345')
  const client = createTenantClient({ apiUrl, apiToken, clock, sender: simulator.sender, env: {} })
  return { clock, simulator, client }
}

it('a simulated tenant responds to clients in the same process without a socket, and records their calls', async () => {
  const { clock, simulator, client } = stage()
  const info = await client.connectionInfo.oneAgent()
  expect(info).toMatchObject({ tenantUuid: 'abc12345', tenantToken: 'SECRET' })
  const { token } = await client.tokens.createForActiveGate('shop')
  expect(token).toMatch(/^dt0g02\./)
  expect(simulator.calls().map(({ operation, status, receivedMs }) => [operation, status, receivedMs])).toEqual([
    ['agent-connection-info', 200, clock.now()],
    ['active-gate-token', 201, clock.now()],
  ])
})

it('a simulated tenant continues after a client is closed: others share it', async () => {
  const { simulator, client } = stage()
  await client.close()
  expect((await client.connectionInfo.activeGate()).tenantUuid).toBe('abc12345')
  expect(simulator.calls()).toHaveLength(1)
})

it.each([
  { afterBytes: undefined, status: 0 },
  { afterBytes: 10, status: 200 },
])(
  'a simulated tenant cuts responses where a fault says so (after $afterBytes bytes)',
  async ({ afterBytes, status }) => {
    const { clock, simulator, client } = stage()
    simulator.faults.add({ kind: 'cut', times: 1, ...(afterBytes !== undefined && { afterBytes }) })
    const info = client.connectionInfo.activeGate()
    // The client tries again after a pause.
    expect((await clock.runToCompletion(info)).tenantUuid).toBe('abc12345')
    expect(simulator.calls().map((call) => call.status)).toEqual([status, 200])
  },
)
