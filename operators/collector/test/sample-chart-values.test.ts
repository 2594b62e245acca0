/** The sample chart treats values as strings, never as YAML. */
import { fileURLToPath } from 'node:url'
import { findHelm, manifestObjects, openHelm } from '@reeve/helm'
import { describe, expect, test } from 'vitest'
import { helmPath } from './support/stage.ts'

const CHART = { path: fileURLToPath(new URL('../charts/log-collector', import.meta.url)) }
const RELEASE = { namespace: 'acme', name: 'log-collector-eu1' }
const CLUSTER = { server: 'https://127.0.0.1:1', source: 'nowhere', namespace: 'default', trust: {} }

/** Ends the quoted text and the object around it, and starts another object. */
const INJECTED = `1"
---
apiVersion: batch/v1
kind: Job
metadata: {name: escaped, namespace: kube-system}
spec: {template: {spec: {hostPID: true, restartPolicy: Never, containers: [{name: a, image: a}]}}}
---
x: "`

describe.skipIf(helmPath === undefined)('the sample chart (skipped without helm)', () => {
  test.each([
    ['image.tag', { image: { repository: 'nginx', tag: INJECTED } }],
    ['image.repository', { image: { repository: INJECTED, tag: '1' } }],
    ['pipeline', { pipeline: { [INJECTED]: INJECTED } }],
    ['resources', { resources: { limits: { [INJECTED]: INJECTED } } }],
  ])('renders no further object, whatever %s contains', async (_, values) => {
    await using helm = await openHelm(await findHelm({ env: { HELM_BIN: helmPath } }), CLUSTER)
    const objects = manifestObjects(await helm.template(RELEASE, CHART, { values }))
    expect(objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
      'Secret log-collector-eu1',
      'Service log-collector-eu1',
      'Deployment log-collector-eu1',
    ])
  })

  test.each([{ serviceMonitor: { interval: '30s\n---' } }, { replicas: '1\n---' }, { port: '80 # ' }])(
    'refuses %j, which its schema does not allow',
    async (values) => {
      await using helm = await openHelm(await findHelm({ env: { HELM_BIN: helmPath } }), CLUSTER)
      await expect(helm.template(RELEASE, CHART, { values })).rejects.toMatchObject({ code: 'HELM_VALUES_REFUSED' })
    },
  )
})
