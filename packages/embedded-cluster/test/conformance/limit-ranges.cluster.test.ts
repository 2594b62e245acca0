/** LimitRanges: defaults of containers, and bounds of containers, pods and claims. */
import { beforeEach, describe, expect, it } from 'vitest'
import { ConformanceApi, type Json } from './support/conformance-api.ts'
import { until } from './support/until.ts'

const api = ConformanceApi.forThisFile()
let namespace = ''
beforeEach(async () => {
  namespace = await api.newNamespace()
})
const core = (resource: string) => `/api/v1/namespaces/${namespace}/${resource}`

const limited = (limits: Json) =>
  api.create(core('limitranges'), {
    apiVersion: 'v1',
    kind: 'LimitRange',
    metadata: { name: 'bounds' },
    spec: { limits },
  })

const podWith = (resources: Json, more: Json = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { generateName: 'limited-' },
  spec: { containers: [{ name: 'main', image: 'registry.example.com/app:1', resources, ...more }] },
})

/** LimitRanges take effect a moment after they are written. */
const rejection = (path: string, object: Json) =>
  until('it is rejected', async () => {
    const { status, body } = await api.post(`${path}?dryRun=All`, object)
    return status === 403 ? body.message.replace(/"[^"]*"/, '<name>') : undefined
  })

describe('a LimitRange', () => {
  it('sets the requests and limits that containers do not have', async () => {
    await limited([
      {
        type: 'Container',
        default: { cpu: '500m', memory: '512Mi' },
        defaultRequest: { cpu: '100m', memory: '256Mi' },
      },
    ])
    const body = await until('its defaults are set', async () => {
      const reply = await api.post(`${core('pods')}?dryRun=All`, podWith({ requests: { cpu: '200m' } }))
      return reply.body.spec.containers[0].resources.limits === undefined ? undefined : reply.body
    })
    expect(body.spec.containers[0].resources).toEqual({
      requests: { cpu: '200m', memory: '256Mi' },
      limits: { cpu: '500m', memory: '512Mi' },
    })
    expect(body.metadata.annotations['kubernetes.io/limit-ranger']).toBe(
      'LimitRanger plugin set: memory request for container main; cpu, memory limit for container main',
    )
  })

  it('rejects containers outside its bounds', async () => {
    await limited([{ type: 'Container', min: { cpu: '100m' }, max: { memory: '1Gi' } }])
    const low = podWith({ requests: { cpu: '50m' }, limits: { cpu: '1', memory: '1Gi' } })
    expect(await rejection(core('pods'), low)).toBe(
      'pods <name> is forbidden: minimum cpu usage per Container is 100m, but request is 50m',
    )
    const high = podWith({ requests: { cpu: '100m' }, limits: { cpu: '1', memory: '2Gi' } })
    expect(await rejection(core('pods'), high)).toContain('maximum memory usage per Container is 1Gi, but limit is 2Gi')
  })

  it('rejects limits that are too far above requests', async () => {
    await limited([{ type: 'Container', maxLimitRequestRatio: { cpu: '2' } }])
    const wide = podWith({ requests: { cpu: '100m' }, limits: { cpu: '300m' } })
    expect(await rejection(core('pods'), wide)).toBe(
      'pods <name> is forbidden: cpu max limit to request ratio per Container is 2, but provided ratio is 3.000000',
    )
  })

  it('bounds whole pods', async () => {
    await limited([{ type: 'Pod', max: { cpu: '1' } }])
    const large = podWith({ limits: { cpu: '2' } })
    expect(await rejection(core('pods'), large)).toContain('maximum cpu usage per Pod is 1, but limit is 2')
  })

  it('bounds the storage of claims', async () => {
    await limited([{ type: 'PersistentVolumeClaim', min: { storage: '1Gi' }, max: { storage: '2Gi' } }])
    const claim = (storage: string) => ({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'data' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } },
    })
    const path = core('persistentvolumeclaims')
    expect(await rejection(path, claim('3Gi'))).toContain(
      'maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 3Gi',
    )
    expect(await rejection(path, claim('1Mi'))).toContain(
      'minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 1Mi',
    )
    expect((await api.post(`${path}?dryRun=All`, claim('2Gi'))).status).toBe(201)
  })
})
