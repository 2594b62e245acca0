/** The service accounts that the chart makes: without its account no pod is made, and nothing ever gets ready. */
import { type KubeClient, ServiceAccounts } from '@reeve/kube'
import { FIXED_NAMES } from '../src/api/dynakube/names.ts'
import { DEFAULT_SERVICE_ACCOUNT } from '../src/api/edgeconnect/edgeconnect-facts.ts'

const NAMES: readonly string[] = [
  'dynatrace-activegate',
  'dynatrace-dynakube-oneagent',
  'dynatrace-extension-controller',
  'dynatrace-logmonitoring',
  'dynatrace-node-config-collector',
  'dynatrace-otel-collector',
  FIXED_NAMES.sqlExecutorServiceAccount,
  DEFAULT_SERVICE_ACCOUNT,
]

/** Makes them, so that workloads get pods. */
export async function addServiceAccounts(client: KubeClient, namespace: string): Promise<void> {
  for (const name of NAMES) {
    await client.create(ServiceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace, name } })
  }
}
