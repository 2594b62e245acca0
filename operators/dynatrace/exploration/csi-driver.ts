/** The CSI driver of the chart, as far as simulated nodes need it: without it no agent with storage of its own starts. */
import { CsiDrivers, DaemonSets, type KubeClient } from '@reeve/kube'
import { DRIVER_NAME } from '../src/csi/names.ts'

const KUBELET = '/var/lib/kubelet'
const labels = { 'internal.oneagent.dynatrace.com/app': 'csi-driver' }

/** Declares the driver, and runs it on every node. */
export async function addCsiDriver(client: KubeClient, namespace: string): Promise<void> {
  await client.create(CsiDrivers, {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'CSIDriver',
    metadata: { name: DRIVER_NAME },
    spec: { attachRequired: false, podInfoOnMount: true, volumeLifecycleModes: ['Ephemeral'] },
  })
  await client.create(DaemonSets, {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { namespace, name: 'dynatrace-oneagent-csi-driver' },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          containers: [{ name: 'server', image: 'registry.example.com/dynatrace-operator:1.8.1' }],
          volumes: [
            { name: 'registration-dir', hostPath: { path: `${KUBELET}/plugins_registry` } },
            { name: 'plugin-dir', hostPath: { path: `${KUBELET}/plugins/${DRIVER_NAME}` } },
          ],
        },
      },
    },
  })
}
