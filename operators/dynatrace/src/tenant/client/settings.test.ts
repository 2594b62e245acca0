import { type ScriptedResponse, ScriptedSender } from '@reeve/http/testing'
import { describe, expect, it } from 'vitest'
import { isTenantUnavailable } from './errors.ts'
import { createTenantClient } from './tenant-client.ts'

function scripted(...responses: readonly ScriptedResponse[]) {
  const sender = new ScriptedSender(...responses)
  const retries = { maxRetries: 0, baseDelayMs: 0, maxDelayMs: 0, maxRetryAfterMs: 0 }
  const { settings, enrichment } = createTenantClient({
    apiUrl: 'https://tenant.example.com/api',
    apiToken: 'api-token-value',
    sender,
    env: {},
    retries,
  })
  const sent = () =>
    sender.requests.map(({ method, url, body }) => ({
      call: `${method} ${url.pathname}${url.search}`,
      ...(body !== undefined && { body: JSON.parse(String(body)) as unknown }),
    }))
  return { settings, enrichment, sent }
}

const json = (value: unknown, status = 200) => ({ status, body: JSON.stringify(value) })
const refusal = (code: number, message = 'no') => ({ error: { code, message } })
const CLUSTER = { label: 'dk', clusterId: 'uid' }

describe('the cluster entity', () => {
  it('is the first one found by the UID of the cluster', async () => {
    const items = [{ scope: 'KUBERNETES_CLUSTER-1', value: { label: 'dk' } }, { scope: 'KUBERNETES_CLUSTER-2' }]
    const { settings, sent } = scripted(json({ items, totalCount: 2 }), json({ items: [] }))
    expect(await settings.findCluster('uid')).toEqual({ id: 'KUBERNETES_CLUSTER-1', name: 'dk' })
    expect(await settings.findCluster('uid')).toBeUndefined()
    expect(sent()[0]?.call).toBe(
      'GET /api/v2/settings/objects?fields=value%2Cscope&filter=value.clusterId%3D%27uid%27&pageSize=500&schemaIds=builtin%3Acloud.kubernetes',
    )
  })

  it('is not searched without that UID', async () => {
    const { settings, enrichment, sent } = scripted(json({}))
    const invalid = { code: 'ENVIRONMENT_INVALID_CALL' }
    await expect(settings.findCluster('')).rejects.toMatchObject(invalid)
    await expect(settings.createClusterSetting({ ...CLUSTER, clusterId: '' })).rejects.toMatchObject(invalid)
    await expect(enrichment.rules('', '')).rejects.toMatchObject(invalid)
    expect(sent()).toEqual([])
  })
})

describe('settings of an entity', () => {
  it('are zero without one, without a request', async () => {
    const { settings, sent } = scripted(json({ totalCount: 1 }))
    expect(await settings.countClusterSettings('')).toBe(0)
    expect(await settings.countClusterSettings('ME-1')).toBe(1)
    expect(sent().map(({ call }) => call)).toEqual([
      'GET /api/v2/settings/objects?schemaIds=builtin%3Acloud.kubernetes&scopes=ME-1',
    ])
  })

  it('may be of a schema that the tenant does not have', async () => {
    const { settings } = scripted(json(refusal(404), 404))
    expect(await settings.countKubernetesAppSettings('ME-1')).toBeUndefined()
  })
})

describe('creating settings', () => {
  it('sends a list of one, with a scope only when there is one', async () => {
    const { settings, sent } = scripted(json([{ objectId: 'o1' }], 201))
    expect(await settings.createClusterSetting(CLUSTER)).toBe('o1')
    await settings.createClusterSetting({ ...CLUSTER, entityId: 'ME-1' })
    const setting = {
      schemaId: 'builtin:cloud.kubernetes',
      schemaVersion: '3.0.0',
      value: { label: 'dk', clusterId: 'uid', clusterIdEnabled: true, enabled: true },
    }
    const call = 'POST /api/v2/settings/objects?validateOnly=false'
    expect(sent()).toEqual([
      { call, body: [setting] },
      { call, body: [{ ...setting, scope: 'ME-1' }] },
    ])
  })

  it.each([json([refusal(404)], 404), json([refusal(404)], 400), { status: 404, body: '<html>' }])(
    'tries the old schema after a 404',
    async (refused) => {
      const { settings, sent } = scripted(refused, json([{ objectId: 'o1' }]))
      await settings.createClusterSetting(CLUSTER)
      expect(sent()[1]?.body).toEqual([
        {
          schemaId: 'builtin:cloud.kubernetes',
          schemaVersion: '1.0.27',
          value: {
            label: 'dk',
            clusterId: 'uid',
            clusterIdEnabled: true,
            enabled: true,
            cloudApplicationPipelineEnabled: true,
            openMetricsPipelineEnabled: false,
            eventProcessingActive: false,
            eventProcessingV2Active: false,
            filterEvents: false,
          },
        },
      ])
    },
  )

  it('does not try the old schema after a 400', async () => {
    const { settings, sent } = scripted(json([refusal(400)], 400))
    await expect(settings.createClusterSetting(CLUSTER)).rejects.toMatchObject({ status: 400 })
    expect(sent()).toHaveLength(1)
  })

  it.each([[[]], [[{ objectId: 'a' }, { objectId: 'b' }]]])('requires exactly one id in the response', async (body) => {
    const { settings } = scripted(json(body))
    await expect(settings.createClusterSetting(CLUSTER)).rejects.toMatchObject({ code: 'ENVIRONMENT_BAD_RESPONSE' })
  })

  it('shows what the server says, in either form', async () => {
    const { settings } = scripted(json(refusal(403, 'scope missing'), 403), json([refusal(400, 'bad value')], 400))
    await expect(settings.createClusterSetting(CLUSTER)).rejects.toThrow(/403 scope missing/)
    await expect(settings.createClusterSetting(CLUSTER)).rejects.toThrow(/400 bad value/)
  })

  it('never counts as "retry later"', async () => {
    const { settings } = scripted(json([refusal(503)], 503))
    const error = await settings.createClusterSetting(CLUSTER).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ status: 503 })
    expect(isTenantUnavailable(error)).toBe(false)
  })

  it('gives log rules the operator MATCHES and always a list of matchers', async () => {
    const { settings, sent } = scripted(json([{ objectId: 'o1' }]))
    const rules = [
      { attribute: 'k8s.namespace.name', values: ['a', 'b'] },
      { attribute: '', values: [] },
    ]
    await settings.createLogMonitoringSetting('ME-1', 'dk', rules)
    await settings.createLogMonitoringSetting('ME-1', 'dk', [])
    const matchers = sent().map(({ body }) => (body as [{ value: { matchers: unknown } }])[0].value.matchers)
    expect(matchers).toEqual([
      [{ attribute: 'k8s.namespace.name', operator: 'MATCHES', values: ['a', 'b'] }, { operator: 'MATCHES' }],
      [],
    ])
  })
})

describe('enrichment rules', () => {
  const SCHEMA = 'builtin:kubernetes.generic.metadata.enrichment'

  it('of all items count, in the scope of the tenant without an entity', async () => {
    const items = [
      { value: { rules: [{ type: 'LABEL', source: 'team', target: 'dt.security_context' }] } },
      { value: { rules: [{ type: 'ANNOTATION', source: 'cost' }] } },
    ]
    const { enrichment, sent } = scripted(json({ items }))
    expect(await enrichment.rules('uid', '')).toEqual([
      { type: 'LABEL', source: 'team', target: 'dt.security_context' },
      { type: 'ANNOTATION', source: 'cost' },
    ])
    expect(sent()[0]?.call).toMatch(/schemaIds=builtin%3Akubernetes.generic.metadata.enrichment&scope=environment$/)
  })

  it('are none where the schema is unknown, and only then', async () => {
    const { enrichment } = scripted(
      json(refusal(404, `no schema ${SCHEMA}`), 404),
      { status: 404, body: `<p>${SCHEMA}</p>` },
      json(refusal(404, 'not here'), 404),
    )
    expect(await enrichment.rules('uid', 'ME-1')).toEqual([])
    expect(await enrichment.rules('uid', 'ME-1')).toEqual([])
    await expect(enrichment.rules('uid', 'ME-1')).rejects.toThrow(/404 not here/)
  })
})
