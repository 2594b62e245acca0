/** An operator upgrades its CRDs when it starts, and never takes anything away by it. */
import { randomBytes } from 'node:crypto'
import { sleep } from '@reeve/http'
import { type CustomResourceDefinition, CustomResourceDefinitions, type Stored } from '@reeve/kube'
import { defineOperator } from '@reeve/runtime'
import { recordingLogger } from '@reeve/runtime/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestCluster, type TestCluster } from './support/test-cluster.ts'

let world: TestCluster
beforeAll(async () => {
  world = await openTestCluster()
})
afterAll(() => world.close())

/** A new kind for each test: CRDs have no namespace. */
function newKind() {
  const group = `t${randomBytes(4).toString('hex')}.example.com`
  world.cluster.removeAtClose(`/apis/apiextensions.k8s.io/v1/customresourcedefinitions/lamps.${group}`)
  return {
    group,
    key: { name: `lamps.${group}` },
    /** Its CRD: the fields of the spec by version; the first one is stored. */
    crd(versions: Readonly<Record<string, readonly string[]>>): CustomResourceDefinition {
      return {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: `lamps.${group}` },
        spec: {
          group,
          scope: 'Namespaced',
          names: { kind: 'Lamp', plural: 'lamps' },
          versions: Object.entries(versions).map(([name, fields], index) => ({
            name,
            served: true,
            storage: index === 0,
            schema: { openAPIV3Schema: { type: 'object', properties: { spec: specOf(fields) } } },
          })),
        },
      }
    },
  }
}

function specOf(fields: readonly string[]) {
  return { type: 'object', properties: Object.fromEntries(fields.map((name) => [name, { type: 'string' }])) }
}

/** Starts an operator of this version with this CRD, until it is ready; returns what it logged about CRDs. */
async function start(version: string, crd: CustomResourceDefinition): Promise<readonly string[]> {
  const logger = recordingLogger()
  const operator = defineOperator({ name: 'lamps', controllers: [], crds: [crd] })
  const { manager } = operator.create({ client: world.client, logger, upgradeCrds: { version } })
  const stop = new AbortController()
  const running = manager.run(stop.signal)
  const deadline = AbortSignal.timeout(30_000)
  while (!logger.lines.some(({ message }) => message === 'started')) await sleep(10, { signal: deadline })
  stop.abort()
  await running
  return (
    logger.lines
      // The server writes the status of a new CRD: that may be a conflict, which is retried.
      .filter(({ message }) => message.includes('CustomResourceDefinition') && !message.endsWith('retrying'))
      .map(({ message }) => message)
  )
}

function fieldsOf({ spec }: Stored<CustomResourceDefinition>) {
  return Object.fromEntries(
    spec.versions.map(({ name, schema }) => {
      // As `crd` above writes it.
      const { openAPIV3Schema } = schema as { openAPIV3Schema: { properties: { spec: ReturnType<typeof specOf> } } }
      return [name, Object.keys(openAPIV3Schema.properties.spec.properties)]
    }),
  )
}

describe('the CRD of an operator', () => {
  test('gets new fields when a newer operator starts, and one of the same version', async () => {
    const { crd, key } = newKind()
    await world.client.create(CustomResourceDefinitions, crd({ v1: ['color'] }))
    await start('1.1.0', crd({ v1: ['color', 'size'] }))
    expect(fieldsOf(await world.client.get(CustomResourceDefinitions, key))).toEqual({ v1: ['color', 'size'] })
    await start('1.1.0', crd({ v1: ['color', 'size', 'socket'] }))
    expect(fieldsOf(await world.client.get(CustomResourceDefinitions, key))).toEqual({
      v1: ['color', 'size', 'socket'],
    })
  })

  test('is not written again by an operator that finds it as it should be', async () => {
    const { crd, key } = newKind()
    await world.client.create(CustomResourceDefinitions, crd({ v1: ['color'] }))
    await start('1.0.0', crd({ v1: ['color'] }))
    const before = await world.client.get(CustomResourceDefinitions, key)
    expect(await start('1.0.0', crd({ v1: ['color'] }))).toEqual([])
    const after = await world.client.get(CustomResourceDefinitions, key)
    expect(after.metadata.generation).toBe(before.metadata.generation)
    expect(after.metadata.annotations).toEqual(before.metadata.annotations)
  })

  test('stays as a newer operator has written it', async () => {
    const { crd, key } = newKind()
    await world.client.create(CustomResourceDefinitions, crd({ v1: ['color'] }))
    await start('1.10.0', crd({ v1: ['color', 'size'] }))
    const log = await start('1.9.9', crd({ v1: ['color', 'size', 'abandoned'] }))
    expect(log).toEqual(['a newer operator has written the CustomResourceDefinition'])
    expect(fieldsOf(await world.client.get(CustomResourceDefinitions, key))).toEqual({ v1: ['color', 'size'] })
  })

  test('loses no field to an operator of the same or an unknown version, but to a newer one', async () => {
    const { crd, key } = newKind()
    await world.client.create(CustomResourceDefinitions, crd({ v1: ['color', 'size'] }))
    const warning = 'the CustomResourceDefinition has what this operator does not know'
    // Nothing says who wrote it.
    expect(await start('1.0.0', crd({ v1: ['color'] }))).toEqual([warning])
    await start('1.0.0', crd({ v1: ['color', 'size'] }))
    expect(await start('1.0.0', crd({ v1: ['color'] }))).toEqual([warning])
    expect(await start('a-commit', crd({ v1: ['color'] }))).toEqual([warning])
    expect(fieldsOf(await world.client.get(CustomResourceDefinitions, key))).toEqual({ v1: ['color', 'size'] })
    await start('1.0.1', crd({ v1: ['color'] }))
    expect(fieldsOf(await world.client.get(CustomResourceDefinitions, key))).toEqual({ v1: ['color'] })
  })

  test('keeps a version in which objects are stored, whatever is newer', async () => {
    const { crd, key } = newKind()
    await world.client.create(CustomResourceDefinitions, crd({ v1: ['color'] }))
    await start('1.0.0', crd({ v1: ['color'] }))
    await start('1.1.0', crd({ v2: ['colors'], v1: ['color'] }))
    await start('2.0.0', crd({ v2: ['colors'] }))
    const live = await world.client.get(CustomResourceDefinitions, key)
    expect(live.spec.versions.map(({ name }) => name)).toEqual(['v2', 'v1'])
    expect(live.status?.storedVersions).toEqual(['v1', 'v2'])
  })

  test('that is not installed is not created, and does not keep the operator from starting', async () => {
    const { crd, key } = newKind()
    await start('1.0.0', crd({ v1: ['color'] }))
    await expect(world.client.get(CustomResourceDefinitions, key)).rejects.toMatchObject({ status: 404 })
  })

  test('that the API server rejects stays as it is, and does not keep the operator from starting', async () => {
    const { crd, key } = newKind()
    await world.client.create(CustomResourceDefinitions, crd({ v1: ['color'] }))
    const { spec, ...rest } = crd({ v1: ['color', 'size'] })
    const log = await start('1.0.0', { ...rest, spec: { ...spec, names: { ...spec.names, plural: 'lights' } } })
    expect(log).toEqual(['the API server rejects the CustomResourceDefinition: it stays as it is'])
    expect(fieldsOf(await world.client.get(CustomResourceDefinitions, key))).toEqual({ v1: ['color'] })
  })

  test('is upgraded once by replicas that start together', async () => {
    const { crd, key } = newKind()
    await world.client.create(CustomResourceDefinitions, crd({ v1: ['color'] }))
    const wanted = crd({ v1: ['color', 'size'] })
    const logs = await Promise.all([1, 2, 3].map(() => start('1.0.0', wanted)))
    expect(logs.flat().filter((message) => message.startsWith('upgraded'))).toHaveLength(1)
    expect(fieldsOf(await world.client.get(CustomResourceDefinitions, key))).toEqual({ v1: ['color', 'size'] })
  })
})
