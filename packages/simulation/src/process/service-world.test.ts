import { tmpdir } from 'node:os'
import { afterEach, expect, it } from 'vitest'
import { ServiceWorld, substituted } from './service-world.ts'

const listening = `exec '${process.execPath}' -e "require('net').createServer().listen(process.env.REEVE_SERVICE_PORT_1)"`

let world: ServiceWorld | undefined
afterEach(() => world?.close())

it('the ports of services are known once they listen', async () => {
  world = new ServiceWorld([listening], tmpdir())
  const variables = await world.variables()
  expect(variables).toEqual({ REEVE_SERVICE_PORT_1: expect.stringMatching(/^\d+$/) })
  const url = `https://localhost:${variables.REEVE_SERVICE_PORT_1}`
  expect(substituted({ spec: { url: `https://localhost:\${REEVE_SERVICE_PORT_1}` } }, variables)).toEqual({
    spec: { url },
  })
})

it('the world says which service does not start, and what it printed', async () => {
  world = new ServiceWorld(['echo no licence; exit 3'], tmpdir())
  await expect(world.variables()).rejects.toThrow(
    'the service "echo no licence; exit 3" ended: the process exited with code 3: no licence',
  )
})

it('the world says that a service ended during the run', async () => {
  world = new ServiceWorld([`${listening.slice(0, -1)}; setTimeout(() => process.exit(4), 500)"`], tmpdir())
  await world.variables()
  await expect.poll(() => world?.variables().catch(String), { timeout: 30_000 }).toMatch(/exited with code 4/)
})
