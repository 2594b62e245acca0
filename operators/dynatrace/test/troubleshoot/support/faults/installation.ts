/** Namespace, CRDs and operator. */
import { CustomResourceDefinitions, Deployments, Leases, type UnknownObject } from '@reeve/kube'
import { DynaKubes } from '../../../../src/index.ts'
import { until } from '../../../support/until.ts'
import { lease, NAMESPACE } from '../healthy-stage.ts'
import { instead, key, nothing, type PlantedFault, scaled, without } from './planted-fault.ts'

const crd = (plural: string, kind: string): UnknownObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.dynatrace.com` },
  spec: {
    group: 'dynatrace.com',
    scope: 'Namespaced',
    names: { plural, kind },
    versions: [{ name: 'v1alpha1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
})

/** Namespace, CRDs and operator. */
export const INSTALLATION_FAULTS: readonly PlantedFault[] = [
  {
    name: 'the former OneAgent operator left its CRD',
    plant: async ({ apply, client }) => {
      await apply(crd('oneagentapms', 'OneAgentAPM'))
      await until('the kind', async () => {
        client.discovery.invalidate()
        return (await client.discovery.resources()).some(({ kind }) => kind === 'OneAgentAPM')
      })
      return async () => {
        await client.delete(CustomResourceDefinitions, { name: 'oneagentapms.dynatrace.com' })
        await until('no such kind', async () => {
          client.discovery.invalidate()
          return !(await client.discovery.resources()).some(({ kind }) => kind === 'OneAgentAPM')
        })
      }
    },
    check: 'oneAgentAPM',
    message: /prerequisite failed.*oneagentapms\.dynatrace\.com/,
    remedy: /kubectl delete crd oneagentapms\.dynatrace\.com/,
  },
  {
    name: 'the namespace does not exist',
    plant: nothing,
    args: ['-n', 'absent'],
    check: 'namespace',
    message: /prerequisite failed: the namespace absent does not exist/,
    remedy: /with -n/,
  },
  {
    name: 'the CRD does not serve the version of this release',
    plant: async ({ client }) => {
      const name = { name: 'dynakubes.dynatrace.com' }
      const serve = async (served: boolean) => {
        const { spec } = await client.get(CustomResourceDefinitions, name)
        const versions = spec.versions.map((version) => (version.name === 'v1beta6' ? { ...version, served } : version))
        await client.patch(CustomResourceDefinitions, name, { type: 'merge', patch: { spec: { versions } } })
        await until('the change', () =>
          client.list(DynaKubes, { namespace: NAMESPACE }).then(
            () => served,
            () => !served,
          ),
        )
      }
      await serve(false)
      return () => serve(true)
    },
    check: 'crd',
    message: /CRD dynakubes\.dynatrace\.com is not installed, or does not serve v1beta6/,
    remedy: /installCRD=true/,
  },
  {
    name: 'the namespace has no DynaKube',
    plant: nothing,
    args: ['-n', 'elsewhere'],
    check: '',
    message: /no DynaKube in the namespace elsewhere/,
    remedy: /create a DynaKube/,
  },
  {
    name: 'the DynaKube of the command line does not exist',
    plant: nothing,
    args: ['-d', 'absent'],
    check: 'crd',
    message: /the DynaKube dynatrace\/absent does not exist/,
    remedy: /kubectl get dynakubes/,
  },
  {
    name: 'the pod of the operator is not ready',
    plant: (stage) => scaled('dynatrace-operator', stage),
    check: 'operator',
    message: /Deployment dynatrace\/dynatrace-operator has no ready pod: nothing is reconciled/,
    remedy: /kubectl describe pods -n dynatrace -l name=dynatrace-operator/,
  },
  {
    name: 'the leader of the operator hangs',
    plant: instead(lease(Date.now() - 24 * 3_600_000)),
    check: 'operator',
    message: /leader dynatrace-operator-7c9f renewed the Lease dynatrace\/dynatrace-operator-lock 86\d\d\d s ago/,
    remedy: /kubectl rollout restart -n dynatrace deploy\/dynatrace-operator/,
  },
  {
    name: 'no replica of the operator has become the leader',
    plant: without(Leases, key('dynatrace-operator-lock')),
    check: 'operator',
    message: /no replica of the operator is the leader/,
    remedy: /kubectl logs -n dynatrace deploy\/dynatrace-operator/,
  },
  {
    name: 'the operator is not installed, but its webhook is',
    plant: without(Deployments, key('dynatrace-operator')),
    check: 'operator',
    message: /dynatrace-operator does not exist: nothing is reconciled/,
    remedy: /install or upgrade the chart/,
  },
  {
    name: 'the CRD is of another release',
    plant: async ({ client }) => {
      const target = { name: 'dynakubes.dynatrace.com' }
      const label = (version: string | null) =>
        client.patch(CustomResourceDefinitions, target, {
          type: 'merge',
          patch: { metadata: { labels: { 'app.kubernetes.io/version': version } } },
        })
      const before = (await client.get(CustomResourceDefinitions, target)).metadata.labels?.[
        'app.kubernetes.io/version'
      ]
      await label('0.0.1')
      return async () => void (await label(before ?? null))
    },
    env: { APP_VERSION: '0.1.0' },
    check: 'operator',
    message: /is of the release 0\.0\.1, the operator of 0\.1\.0/,
    remedy: /apply the CRDs of 0\.1\.0/,
    status: 'warning',
  },
]
